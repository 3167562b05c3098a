internal import UncurlHTTP1
internal import UncurlReactor

/// The state of a connection, and what may become of it. It decides from events and instants, and touches no socket,
/// timer or delegate. ``Connection`` is its owner and performs what it decides.
///
/// ```
///   dialled ──▶ idle(since) ──leased──▶ busy        any ──closed──▶ closed
///                    ▲                    │
///                    └──────parked────────┘
/// ```
/// - idle: between messages; nothing is queued to send, and nothing known is unread. Any event of the socket closes it
///   (RFC 9112 §9.5); over TLS, any but tickets and key updates.
/// - busy: an exchange's response is awaited, or coming in.
/// - closed: nothing follows.
struct ConnectionMachine {
    enum State: Equatable {
        /// Idle since that instant, by the clock that also counts suspend.
        case idle(since: Instant)
        case busy
        case closed
    }

    /// What the owner does after an event of its socket, in this order.
    struct Reaction: OptionSet {
        let rawValue: UInt8

        /// Send what TLS itself has to send: there is room.
        static let flush = Reaction(rawValue: 1 << 0)
        /// Send what is queued, and ask for more.
        static let send = Reaction(rawValue: 1 << 1)
        /// Read, if the exchange reads.
        static let receive = Reaction(rawValue: 1 << 2)
        /// Both directions have ended. epoll repeats this until the socket is read or left alone.
        static let broken = Reaction(rawValue: 1 << 3)
        /// It is idle and uses TLS: read what came, which may be a ticket or a key update (RFC 8446 §4.6).
        static let readNews = Reaction(rawValue: 1 << 4)
        /// It is idle: the peer has ended, or sent bytes that no request has asked for (RFC 9112 §9.2).
        static let close = Reaction(rawValue: 1 << 5)
    }

    private(set) var state: State
    /// Whether the peer's FIN follows what is being read: then nothing more can be sent here, whatever the fields say.
    private(set) var peerFinished = false
    /// When its last response ended, or when it was opened if there was none.
    private(set) var answered: Instant
    /// The instant after which it is not used again, by the clock that also counts suspend.
    private let expiry: Instant
    private var exchanges: UInt32 = 0
    /// How long the server says that it keeps an idle connection, in nanoseconds less a margin, and how many more
    /// exchanges it serves.
    private var hintedIdle = Int64.max
    private var hintedExchanges = UInt32.max

    /// - Parameters:
    ///   - opened: by the clock that also counts suspend.
    ///   - now: by the loop's clock.
    ///   - maximumAge: in nanoseconds.
    init(opened: Instant, now: Instant, maximumAge: Int64) {
        state = .idle(since: opened)
        answered = now
        expiry = opened.advanced(byNanoseconds: maximumAge)
    }

    /// Returns a connection's share of the spread, to be subtracted from its maximum age: multiples of the golden ratio
    /// do not cluster anywhere.
    static func ageDiscount(number: Int, spread: Int64) -> Int64 {
        guard spread > 0 else { return 0 }
        let part = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
        return Int64(part.multipliedFullWidth(by: UInt64(spread)).high)
    }

    // MARK: Events

    mutating func leased() {
        exchanges &+= 1
        if hintedExchanges < .max { hintedExchanges &-= 1 }
        state = .busy
    }

    /// - Parameter now: by the clock that also counts suspend.
    mutating func parked(at now: Instant) { state = .idle(since: now) }

    /// - Returns: false if it was already closed.
    mutating func closed() -> Bool {
        if case .closed = state { return false }
        state = .closed
        return true
    }

    mutating func answered(at now: Instant) { answered = now }

    /// Notes that the read side has ended, or will after what is being read.
    mutating func peerEnded() { peerFinished = true }

    /// Takes `Keep-Alive: timeout=5, max=100`: hints, with a margin of a second for the request to arrive in time.
    ///
    /// - Returns: true if the connection may now be idle for a shorter time than before.
    mutating func heard(_ hint: KeepAliveHint) -> Bool {
        if let count = hint.max { hintedExchanges = count }
        guard let seconds = hint.timeout else { return false }
        let limit = (Int64(seconds) - 1) * 1_000_000_000
        defer { hintedIdle = limit }
        return limit < hintedIdle
    }

    /// Handles an event of the socket, or work that its owner had left for this turn.
    mutating func heard(_ readiness: Readiness, isSecure: Bool) -> Reaction {
        switch state {
        case .closed:
            return []
        case .idle:
            // A reschedule that an ended exchange has asked for is no event.
            guard isSecure else { return readiness == .rescheduled ? [] : .close }
            var reaction: Reaction = readiness.contains(.writable) ? .flush : []
            if !readiness.isDisjoint(with: [.peerFinished, .hungUp, .failed]) {
                reaction.insert(.close)
            } else if readiness.contains(.readable) {
                reaction.insert(.readNews)
            }
            return reaction
        case .busy:
            if !readiness.isDisjoint(with: [.peerFinished, .hungUp]) { peerFinished = true }
            var reaction: Reaction = []
            if readiness.contains(.writable) { reaction = [.flush, .send] }
            if readiness.contains(.rescheduled) { reaction.insert(.send) }
            if !readiness.isDisjoint(with: [.readable, .peerFinished, .hungUp, .failed, .rescheduled]) {
                reaction.insert(.receive)
            }
            if !readiness.isDisjoint(with: [.hungUp, .failed]) { reaction.insert(.broken) }
            return reaction
        }
    }

    // MARK: Questions

    /// Whether the connection had served an exchange before the present one.
    var isReused: Bool { exchanges > 1 }

    /// How long it may be idle.
    ///
    /// - Parameter limit: the engine's limit, in nanoseconds.
    func idleLimit(_ limit: Int64) -> Int64 { min(hintedIdle, limit) }

    /// Whether an exchange may have it now, as far as time decides.
    ///
    /// - Parameters:
    ///   - now: by the clock that also counts suspend, since a timer stops while the machine sleeps.
    ///   - limit: how long the engine keeps idle connections, in nanoseconds.
    func isFresh(at now: Instant, idleLimit limit: Int64) -> Bool {
        guard case .idle(let since) = state, !isTooOld(at: now) else { return false }
        return now.nanoseconds(since: since) < idleLimit(limit)
    }

    /// Whether another exchange may follow the one whose response has just ended.
    ///
    /// - Parameters:
    ///   - persistence: what the response says (RFC 9112 §9.3).
    ///   - now: by the clock that also counts suspend.
    ///   - limit: how many exchanges the engine lets a connection serve.
    func mayServeAnother(after persistence: Persistence, at now: Instant, limit: Int) -> Bool {
        guard persistence == .keepAlive, !peerFinished, hintedExchanges > 0 else { return false }
        return Int(exchanges) < limit && !isTooOld(at: now)
    }

    /// Returns how much longer it may be idle, in nanoseconds: zero or less if it has expired; nil if it is not idle,
    /// or has been closed.
    ///
    /// - Parameters:
    ///   - now: by the clock that also counts suspend.
    ///   - limit: how long the engine keeps idle connections, in nanoseconds.
    func idleTimeLeft(at now: Instant, idleLimit limit: Int64) -> Int64? {
        guard case .idle(let since) = state else { return nil }
        return idleLimit(limit) - now.nanoseconds(since: since)
    }

    private func isTooOld(at now: Instant) -> Bool { hintedIdle <= 0 || now > expiry }
}

/// What a connection needs only while a response is coming in. Ten thousand connections that wait for their responses
/// share a few of these, each of which costs more than the rest of its connection.
final class Reading {
    var parser: ResponseParser
    /// Bytes read from the socket that a paused consumer has not taken: content first, then the rest. Empty differs
    /// from nil: the decoder may hold output, and the parser an end, that needs no more bytes.
    var heldContent: [UInt8]?
    var heldInput: [UInt8]?
    var pace = ReadingPace.usual
    /// What it counts in ``ReadingShelf/held``.
    fileprivate var held = 0
    /// Whether the parser has the limits of a request instead of the engine's.
    private var hasOwnLimits = false

    init(_ configuration: EngineConfiguration) {
        parser = ResponseParser(limits: configuration.limits, leniency: configuration.leniency)
    }

    /// - Parameter limits: the engine's, which a request without its own has.
    func begin(_ request: EngineRequest, _ limits: @autoclosure () -> ParserLimits) {
        if request.hasOwnLimits || hasOwnLimits {
            parser.replaceLimits(by: request.options.limits ?? limits())
            hasOwnLimits = request.hasOwnLimits
        }
        parser.begin(answering: request.context)
    }
}

/// Readings that are not in use. The next one is ready: a response that arrives in one piece takes it and gives it back
/// within a turn, and nothing is moved.
struct ReadingShelf {
    /// How many responses can come in at the same time without an allocation.
    private static let capacity = 256

    private(set) var next: Reading
    private var spare: [Reading] = []
    /// The memory of all heads and trailers that have come in part, in octets.
    private(set) var held = 0

    init(_ configuration: EngineConfiguration) { next = Reading(configuration) }

    /// Replaces `next`, which belongs to a connection whose response goes on.
    mutating func replaceNext(_ configuration: EngineConfiguration) {
        next = spare.popLast() ?? Reading(configuration)
    }

    /// Counts what a response that goes on holds of its head or its trailers.
    mutating func count(_ reading: Reading) {
        let held = reading.parser.heldBytes
        guard held != reading.held else { return }
        self.held += held - reading.held
        reading.held = held
    }

    /// Keeps a reading for reuse, without its storage: a head that came in parts has left some, up to the limit on
    /// heads.
    mutating func keep(_ reading: Reading) {
        held -= reading.held
        reading.held = 0
        guard reading !== next, spare.count < ReadingShelf.capacity else { return }
        reading.parser.releaseStorage()
        reading.heldContent = nil
        reading.heldInput = nil
        spare.append(reading)
    }
}

/// How the bytes of a response are taken from its socket.
///
/// Gathering lets the kernel gather bytes, so that the reader is woken for many at once (`SO_RCVLOWAT`). The cost of a
/// fast download is the cost of its wake-ups: by default, a socket wakes its reader for a record or two. The kernel
/// still wakes it at once for FIN, RST, and a full window. This is done only if Content-Length says that so much is
/// still to come, and only for a peer that sends without pauses: the first pause ends it for the whole response, so
/// nothing is held back twice.
///
/// ```
///   usual ──a turn's reads were all full──▶ bulk ◀──▶ gathering ──the peer pauses──▶ fitful
/// ```
enum ReadingPace: Hashable {
    /// Takes bytes as they come, in reads of ``ReadBuffer/usual``.
    case usual
    /// Takes bytes as they come, in reads of ``ReadBuffer/bulk``.
    case bulk
    /// Waits until ``gatheredAmount`` of bytes are there; the timer is for a peer that pauses before that.
    case gathering(TimerID)
    /// Reads as bulk to the end of the response, since its peer has paused once.
    case fitful

    /// Of 64, 128 and 256 KiB, this takes as little CPU as the largest (`./dev bench download`).
    static let gatheredAmount = 128 * 1024
    /// In nanoseconds. Gathering is not worth it below 5 MB/s; this is a tenth of what people notice.
    static let patience: Int64 = 25_000_000
}
