internal import Reactor

/// The rates of one exchange. What is above them is not slept away: the socket is left alone until the bucket has
/// filled.
final class Throttle {
    private var sending: TokenBucket?
    private var receiving: TokenBucket?
    private var sendingResumes = Instant.never
    private var readingResumes = Instant.never

    init(sending: TransferRate?, receiving: TransferRate?, at now: Instant) {
        self.sending = sending.map { TokenBucket($0, at: now) }
        self.receiving = receiving.map { TokenBucket($0, at: now) }
    }

    var isReadingHeld: Bool { readingResumes < .never }

    /// The next that a timer has to do.
    var next: Instant { min(sendingResumes, readingResumes) }

    func sendable(at now: Instant) -> Int { sending?.available(at: now) ?? .max }

    func sent(_ count: Int) { sending?.take(count) }

    func holdSending() { sendingResumes = sending?.next ?? .never }

    /// How much may be read in one call: what a rate allows must not all be there at once because one read holds it.
    func readable(at now: Instant) -> Int { max(1, receiving?.available(at: now) ?? .max) }

    /// True if nothing more may be read for now.
    func read(_ count: Int, at now: Instant) -> Bool {
        _ = receiving?.available(at: now)
        receiving?.take(count)
        guard let receiving, receiving.isEmpty else { return false }
        readingResumes = receiving.next
        return true
    }

    /// What is due by now.
    func resume(at now: Instant) -> (sending: Bool, reading: Bool) {
        let due = (sending: sendingResumes <= now, reading: readingResumes <= now)
        if due.sending { sendingResumes = .never }
        if due.reading { readingResumes = .never }
        return due
    }
}
