import UncurlLoad

/// Observes a run while it goes on. It is used on the main thread.
protocol RunObserver {
    /// Where workers put their counts; nil where they are only needed at the end.
    var intervals: IntervalBoard? { get }
    /// Where single requests are logged; nil for no log.
    var log: RequestLogBoard? { get }
    /// How long the main thread may sleep, in nanoseconds.
    var span: UInt64 { get }
    /// Whether the run must end.
    var isToEnd: Bool { get }
    /// The course of the run so far.
    var series: IntervalSeries { get }

    /// - Parameter startedAt: the start in milliseconds since 1970.
    mutating func begin(startedAt: UInt64)
    /// Called about once per ``span``. `elapsed` is the time since the start of the run, in nanoseconds.
    mutating func turn(elapsed: UInt64)
    /// Called after the workers' last messages and before the first report. It adds the counts that were handed over
    /// before to the results.
    mutating func finish(_ results: inout [WorkerResult], measured: UInt64)
}
