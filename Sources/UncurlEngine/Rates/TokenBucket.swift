internal import UncurlReactor

/// The bytes that may move: they are added at a rate, up to a limit. The caller gives the time.
struct TokenBucket {
    private let perNanosecond: Double
    private let burst: Double
    /// Below zero if more has moved than was there, since a read cannot be taken back.
    private var level: Double
    private var stamp: Instant

    init(_ rate: TransferRate, at now: Instant) {
        perNanosecond = Double(rate.bytesPerSecond) / 1e9
        burst = Double(rate.burst)
        level = burst
        stamp = now
    }

    mutating func available(at now: Instant) -> Int {
        // A clock that goes backwards adds nothing.
        level = min(burst, level + Double(max(0, now.nanoseconds(since: stamp))) * perNanosecond)
        stamp = max(stamp, now)
        return Int(min(max(0, level), TokenBucket.most))
    }

    mutating func take(_ count: Int) { level -= Double(count) }

    var isEmpty: Bool { level < 1 }

    /// More than any call moves, and exact in both kinds of number.
    private static let most = 1e15

    /// Twenty wake-ups a second: with fewer the flow stutters, with more each carries less than a packet.
    private static let wakeUps = 20.0

    /// When enough bytes may move again to wake up for them, as of the last check.
    var next: Instant {
        let share = min(burst, max(1, perNanosecond * 1e9 / TokenBucket.wakeUps))
        let nanoseconds = max(0, share - level) / perNanosecond
        return stamp.advanced(byNanoseconds: nanoseconds < 1e18 ? Int64(nanoseconds.rounded(.up)) : .max)
    }
}
