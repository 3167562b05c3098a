internal import Reactor

/// Bytes that may move: they come in at a rate, up to a limit. Time is handed in.
struct TokenBucket {
    private let perNanosecond: Double
    private let burst: Double
    /// Below zero where more has moved than was there, as a read cannot be taken back.
    private var level: Double
    private var stamp: Instant

    init(_ rate: TransferRate, at now: Instant) {
        perNanosecond = Double(rate.bytesPerSecond) / 1e9
        burst = Double(rate.burst)
        level = burst
        stamp = now
    }

    mutating func available(at now: Instant) -> Int {
        // A clock that goes backwards gives nothing.
        level = min(burst, level + Double(max(0, now.nanoseconds(since: stamp))) * perNanosecond)
        stamp = max(stamp, now)
        return Int(min(max(0, level), TokenBucket.most))
    }

    mutating func take(_ count: Int) { level -= Double(count) }

    var isEmpty: Bool { level < 1 }

    /// More than any call moves, and what both kinds of number hold exactly.
    private static let most = 1e15

    /// Twenty wake-ups a second: fewer and the flow stutters, more and each carries less than a packet.
    private static let wakeUps = 20.0

    /// When a share worth waking up for is there, seen from the last look.
    var next: Instant {
        let share = min(burst, max(1, perNanosecond * 1e9 / TokenBucket.wakeUps))
        let nanoseconds = max(0, share - level) / perNanosecond
        return stamp.advanced(byNanoseconds: nanoseconds < 1e18 ? Int64(nanoseconds.rounded(.up)) : .max)
    }
}
