internal import CUncurlLinux

/// Hears that the loop's alarm has fired. Called on the loop; the call may set it again.
public protocol AlarmHandler: AnyObject {
    /// Handles the alarm: the deadline has come. Called once for each time it was set.
    func alarmRang()
}

/// A loop's one precise timer: the wheel's ticks of 8.4 ms are too coarse for a schedule of requests.
struct Alarm {
    private var deadline = Instant.never
    private var spin: Int64 = 0
    private var handler: (any AlarmHandler)?
    private var isSharp = false

    @inline(__always) var isSet: Bool { deadline != .never }

    @inline(__always)
    func isDue(_ now: Instant) -> Bool { now >= deadline && isSet }

    /// Returns how long to sleep; zero or less once polling is to begin.
    func nanoseconds(from now: Instant) -> Int64 { deadline.nanoseconds(since: now) &- spin }

    mutating func set(_ deadline: Instant, _ spin: Int64, _ handler: any AlarmHandler) {
        if !isSharp {
            // Otherwise the kernel may add 50 µs to each sleep, to wake less often.
            _ = uncurl_sharpen_timers()
            isSharp = true
        }
        self.deadline = deadline
        self.spin = spin
        if self.handler !== handler { self.handler = handler }
    }

    /// Takes the handler, which may set the alarm again.
    mutating func take() -> (any AlarmHandler)? {
        deadline = .never
        return handler
    }

    mutating func clear() { self = Alarm() }
}
