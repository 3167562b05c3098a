internal import UncurlReactor

/// The places at hosts that are not in use, because their exchanges wait for the program.
struct LentPlaces {
    /// How many exchanges and dials wait for the program.
    private var resting = 0
    /// How many of them have lent their places.
    private(set) var lent = 0
    /// Armed while one that waits for the program may have to lend its place.
    private var timer: TimerID?

    /// Whether one waits for the program and has its place, and no timer is armed for that yet.
    var isWorthWatching: Bool { resting > lent && timer == nil }

    mutating func restBegan() { resting += 1 }

    mutating func restEnded() { resting -= 1 }

    mutating func lend() { lent += 1 }

    mutating func takeBack() { lent -= 1 }

    mutating func watch(by timer: TimerID) { self.timer = timer }

    /// Returns the timer, which is no longer armed or is to be cancelled; nil if there is none.
    mutating func endWatch() -> TimerID? { timer.take() }

    /// How long one waits for the program before it lends its place, in nanoseconds. Most questions are answered
    /// sooner, and then the limits on connections are kept. Where another place is already lent, those that follow have
    /// to be quick: what the program waits for may stand behind all of them.
    static func patience(at host: Host) -> Int64 { host.pool.hasLent ? 10_000_000 : 100_000_000 }
}
