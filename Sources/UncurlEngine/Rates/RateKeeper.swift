internal import UncurlReactor

/// What the exchanges on one connection may move, while they name equal rates. No thread sleeps for it: the socket is
/// left alone until the bucket has filled.
final class RateKeeper {
    let rates: ExchangeRates
    private var sending: TokenBucket?
    private var receiving: TokenBucket?
    private var sendingResumes = Instant.never
    private var readingResumes = Instant.never

    init(_ rates: ExchangeRates, at now: Instant) {
        self.rates = rates
        sending = rates.sending.map { TokenBucket($0, at: now) }
        receiving = rates.receiving.map { TokenBucket($0, at: now) }
    }

    var isReadingHeld: Bool { readingResumes < .never }

    /// The next instant at which a timer has something to do.
    var next: Instant { min(sendingResumes, readingResumes) }

    func sendable(at now: Instant) -> Int { sending?.available(at: now) ?? .max }

    func sent(_ count: Int) { sending?.take(count) }

    func holdSending() { sendingResumes = sending?.next ?? .never }

    /// Returns how much may be read in one call, so that one read does not take more at once than a rate allows.
    func readable(at now: Instant) -> Int { max(1, receiving?.available(at: now) ?? .max) }

    /// Counts bytes that were read.
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

    /// Returns what is due by now.
    func resume(at now: Instant) -> (sending: Bool, reading: Bool) {
        let due = (sending: sendingResumes <= now, reading: readingResumes <= now)
        if due.sending { sendingResumes = .never }
        if due.reading { readingResumes = .never }
        return due
    }
}

/// The rates of an exchange, each way; nil: no limit.
struct ExchangeRates: Equatable {
    let sending: TransferRate?
    let receiving: TransferRate?
}
