/// Measures the time since its creation, with any clock.
struct Stopwatch: Sendable {
    private let read: @Sendable () -> Duration

    init(_ clock: any Clock<Duration>) { read = Self.reader(clock) }

    var elapsed: Duration { read() }

    private static func reader<Source: Clock<Duration>>(_ clock: Source) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
