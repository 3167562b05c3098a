internal import Reactor

/// The rates of one exchange. What is above them is not slept away: the socket is left alone until the bucket has filled.
final class Throttle {
    private var sending: TokenBucket?
    private var receiving: TokenBucket?
    private var sendingResumes = Instant.never
    private var readingResumes = Instant.never

    init(_ options: EngineRequest.Options, at now: Instant) {
        sending = options.sendingRate.map { TokenBucket($0, at: now) }
        receiving = options.receivingRate.map { TokenBucket($0, at: now) }
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

extension Connection {
    /// No bytes may leave for now: room in the socket is of no interest.
    func holdSending(_ exchange: Exchange) {
        exchange.throttle?.holdSending()
        updateInterest(reading: exchange.isReading, writing: false)
        exchange.watch(at: loop.now)
    }

    /// Enough has been read for now: the socket fills, and the peer waits.
    func holdReading(_ exchange: Exchange) {
        updateInterest(reading: false, writing: awaitsRoom)
        exchange.watch(at: loop.now)
    }

    /// A timer has fired: what the rates held may go on.
    func goOn(_ exchange: Exchange, _ throttle: Throttle) {
        let due = throttle.resume(at: loop.now)
        // The idle limit stood still for what was held by us.
        if due.reading {
            exchange.lastActivity = loop.now
            resumeReading(exchange.isReading)
        }
        if due.sending { loop.reschedule(token) }
    }
}
