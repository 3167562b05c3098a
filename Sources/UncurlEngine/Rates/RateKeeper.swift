internal import UncurlReactor

/// What the exchanges on one connection may move, while they name equal rates. No thread sleeps for it: the socket is
/// left alone until the bucket has filled.
final class RateKeeper {
    let sendingRate: TransferRate?
    let receivingRate: TransferRate?
    private var sending: TokenBucket?
    private var receiving: TokenBucket?
    private var sendingResumes = Instant.never
    private var readingResumes = Instant.never

    /// - Parameters: nil for no limit that way.
    init(sending: TransferRate?, receiving: TransferRate?, at now: Instant) {
        (sendingRate, receivingRate) = (sending, receiving)
        self.sending = sending.map { TokenBucket($0, at: now) }
        self.receiving = receiving.map { TokenBucket($0, at: now) }
    }

    var isReadingHeld: Bool { readingResumes < .never }

    /// The next instant at which a timer has something to do.
    var next: Instant { min(sendingResumes, readingResumes) }

    func sendable(at now: Instant) -> Int { sending?.available(at: now) ?? .max }

    func sent(_ count: Int) { sending?.take(count) }

    func holdSending() { sendingResumes = sending?.next ?? .never }

    /// Returns how much may be read in one call, so that one read does not take more at once than a rate allows.
    func readable(at now: Instant) -> Int { max(1, receiving?.available(at: now) ?? .max) }

    func received(_ count: Int, at now: Instant) {
        _ = receiving?.available(at: now)
        receiving?.take(count)
    }

    /// Stops the reading if nothing more may be read for now. Returns whether it did.
    func holdReading() -> Bool {
        guard let receiving, receiving.isEmpty else { return false }
        readingResumes = receiving.next
        return true
    }

    func resume(at now: Instant) -> (sending: Bool, reading: Bool) {
        let due = (sending: sendingResumes <= now, reading: readingResumes <= now)
        if due.sending { sendingResumes = .never }
        if due.reading { readingResumes = .never }
        return due
    }
}

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

/// How many bytes move in a second, and how many at once after a pause.
public struct TransferRate: Hashable, Sendable {
    /// The rate; at least one.
    public let bytesPerSecond: Int
    /// How many bytes may move at once after a pause, and at the start of a connection; at least one.
    public let burst: Int

    /// - Parameters:
    ///   - bytesPerSecond: at least one.
    ///   - burst: nil for a tenth of a second's worth.
    public init(bytesPerSecond: Int, burst: Int? = nil) {
        self.bytesPerSecond = max(1, bytesPerSecond)
        self.burst = max(1, burst ?? bytesPerSecond / 10)
    }
}
