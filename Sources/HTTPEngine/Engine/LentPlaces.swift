internal import Reactor

/// The places at hosts that are not in use, because their exchanges wait for the program.
struct LentPlaces {
    /// How many exchanges and dials wait for the program.
    var resting = 0
    /// How many of them have lent their places.
    var lent = 0
    /// Armed while one that waits for the program may have to lend its place.
    var timer: TimerID?

    /// How long one waits for the program before it lends its place, in nanoseconds. Most questions are answered
    /// sooner, and then the limits on connections are kept. Where another place is already lent, those that follow have
    /// to be quick: what the program waits for may stand behind all of them.
    static func patience(at host: Host) -> Int64 { host.pool.hasLent ? 10_000_000 : 100_000_000 }
}
