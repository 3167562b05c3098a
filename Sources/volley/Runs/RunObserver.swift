import LoadGenerator

/// What looks at a run while it goes on. On the main thread.
protocol RunObserver {
    /// Where the workers hand over what they count; nil: nobody looks before the end.
    var intervals: IntervalBoard? { get }
    /// Where single requests are noted; nil: nowhere.
    var log: RequestLogBoard? { get }
    /// How long the main thread may sleep, in nanoseconds.
    var span: UInt64 { get }
    /// The run is to end.
    var isToEnd: Bool { get }
    /// The run's course so far.
    var series: IntervalSeries { get }

    /// - Parameter startedAt: milliseconds since 1970.
    mutating func begin(startedAt: UInt64)
    /// To be called about once a ``span``; `elapsed` counts from the start of the run, in nanoseconds.
    mutating func turn(elapsed: UInt64)
    /// Between the last message from a worker and the first report; the results get what was handed over before.
    mutating func finish(_ results: inout [WorkerResult], measured: UInt64)
}
