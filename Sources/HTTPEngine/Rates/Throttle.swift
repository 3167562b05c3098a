internal import Reactor

/// The rates of one exchange. No thread sleeps for them: the socket is left alone until the bucket has filled.
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

    /// The next instant at which a timer has something to do.
    var next: Instant { min(sendingResumes, readingResumes) }

    func sendable(at now: Instant) -> Int { sending?.available(at: now) ?? .max }

    func sent(_ count: Int) { sending?.take(count) }

    func holdSending() { sendingResumes = sending?.next ?? .never }

    /// Returns how much may be read in one call, so that one read does not take more at once than a rate allows.
    func readable(at now: Instant) -> Int { max(1, receiving?.available(at: now) ?? .max) }

    /// Counts bytes that were read. Returns true if nothing more may be read for now.
    func read(_ count: Int, at now: Instant) -> Bool {
        _ = receiving?.available(at: now)
        receiving?.take(count)
        guard let receiving, receiving.isEmpty else { return false }
        readingResumes = receiving.next
        return true
    }

    /// Returns what is due by now.
    func resume(at now: Instant) -> (sending: Bool, reading: Bool) {
        let due = (sending: sendingResumes <= now, reading: readingResumes <= now)
        if due.sending { sendingResumes = .never }
        if due.reading { readingResumes = .never }
        return due
    }
}
