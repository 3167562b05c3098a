internal import UncurlHTTP1
internal import UncurlReactor

/// One socket and its exchange: the owner of a ``ConnectionMachine``, which decides, and of a ``Link``, which moves
/// bytes. Loop-confined.
///
/// Once closed, it has no descriptor, no registration and no timer.
final class Connection: ReadinessHandler, TimerHandler {
    /// How many parts of a streamed body are sent in a turn, so that a source of small ones cannot keep the loop busy.
    static let partsPerTurn = 16

    /// For how many nanoseconds a socket counts as empty after it was emptied in the same turn: a packet to the next
    /// machine and back takes longer.
    private static let freshness: Int64 = 100_000

    let id: ConnectionID
    let engine: Engine
    let loop: EventLoop
    let host: Host
    let record: ConnectionRecord
    /// The connection's number in the order of opening, for observers.
    let number: Int
    /// Whether it carries no further exchange; see ``Engine/retireConnections(where:)``.
    private(set) var isRetired = false

    func markRetired() { isRetired = true }

    private var machine: ConnectionMachine
    /// The exchange, while the machine is busy.
    private var exchange: Exchange?
    var link: Link
    /// Nil until the first byte of the response has come.
    private(set) var reading: Reading?
    /// Whether the last read of this turn took all that the socket held.
    private var isDrained = false
    /// What may be decoded in this turn.
    private var share = DecodingShare()
    private var timer: TimerID?
    /// What the last exchange kept to; nil if it had no rates.
    private var throttle: RateKeeper?
    /// The keeper whose exchanges alone it serves; nil if it serves any.
    private(set) var keeper: ConnectionKeeper?

    /// - Parameter token: the registration of the socket, which this connection takes over.
    init(
        _ transport: consuming Transport,
        token: Token,
        record: ConnectionRecord,
        number: Int,
        id: ConnectionID,
        host: Host,
        engine: Engine
    ) {
        link = Link(transport, token, on: engine.loop)
        self.record = record
        self.number = number
        self.id = id
        self.host = host
        self.engine = engine
        loop = engine.loop
        let discount = ConnectionMachine.ageDiscount(number: number, spread: engine.maximumAgeSpread)
        machine = ConnectionMachine(
            opened: engine.loop.sinceBoot,
            now: engine.loop.now,
            maximumAge: engine.maximumAge - discount
        )
        engine.loop.handOver(token, to: self)
    }

    var isReused: Bool { machine.isReused }
    /// When its last response ended.
    var answered: Instant { machine.answered }
    var peerFinished: Bool { machine.peerFinished }

    var isIdle: Bool {
        if case .idle = machine.state { true } else { false }
    }

    /// Since when it has been idle; never if it is not. The oldest connection is closed to make room.
    var idleSince: Instant {
        if case .idle(let since) = machine.state { since } else { .never }
    }

    // MARK: Events

    func ready(_ readiness: Readiness) {
        let reaction = machine.heard(readiness, isSecure: link.secure != nil)
        guard let exchange else { return readyIdle(reaction) }
        if let refusal = link.refusal { return engine.fail(exchange, .system(refusal)) }
        if let failure = link.secure?.sealFailure { return engine.fail(exchange, .tls(failure)) }
        if reaction.contains(.flush) { link.flushSecure() }
        if case .broken(let error) = exchange.sending, !error.isPeerClosure {
            return engine.fail(exchange, .sendFailed(error))
        }
        if reaction.contains(.send) { pump(exchange) }
        guard isServing(exchange) else { return }
        if exchange.isReading {
            if reaction.contains(.receive) { receive(exchange) }
        } else if reaction.contains(.broken) {
            link.suspend()
        }
    }

    /// Begins to receive in this turn. Returns false if content that was left for later is still to come first.
    func beginReceiving() -> Bool { share.begin() }

    /// Counts decoded bytes. Returns whether there may be more in this turn.
    func noteDecoded(_ count: Int) -> Bool { share.take(count) }

    /// Goes on with content that was left for a later turn, once the loop has served the other sockets.
    func deliverLater() {
        share.wait()
        loop.runWhenIdle { [self] in
            share.endWait()
            guard let exchange, exchange.isReading else { return }
            exchange.noteActivity(at: loop.now)
            receive(exchange)
        }
    }

    private func readyIdle(_ reaction: ConnectionMachine.Reaction) {
        if reaction.contains(.flush) {
            link.flushSecure()
            link.updateInterest(reading: true, writing: false)
        }
        if reaction.contains(.readNews), staysIdle() { return }
        if !reaction.isDisjoint(with: [.close, .readNews]) { engine.closeIdle(self, .peer) }
    }

    func isServing(_ exchange: Exchange) -> Bool { self.exchange === exchange }

    /// Notes whether a read has emptied the socket.
    func noteDrained(_ isDrained: Bool) { self.isDrained = isDrained }

    /// Notes that no request can follow what is being read.
    func peerEnded() { machine.peerEnded() }

    // MARK: Lease and release

    /// Whether it can carry a request now. Epoll has reported nothing as of the loop's last wait. What came since then
    /// shows in the socket alone: the server's FIN, or an answer to no request, which would be taken for the next
    /// one's.
    var isAlive: Bool { machine.isFresh(at: loop.sinceBoot, idleLimit: engine.idleLimit) && isQuiet }

    /// Whether the socket holds nothing unread: no bytes, and no end. One check of the loop's tells it for all
    /// connections that a burst of requests takes; if that cannot tell, the socket is asked.
    var isQuiet: Bool { !loop.mayHaveNews(link.token) || link.unread == .quiet }

    /// Whether the socket holds bytes that no request has asked for. Over TLS they may be the session's own.
    var holdsStrayBytes: Bool { link.secure == nil && link.unread == .strayBytes }

    /// Whether the read that brought the end of the response has emptied the socket, and the clock shows that it was
    /// just now. For a connection whose response has ended in this turn: another check would cost a fifteenth of a
    /// request's time. The result is false if the delegate has worked since then, or another process had the core; if
    /// the read took as much as it might, since more may follow; and if a pause held the end back.
    var isJustDrained: Bool {
        guard isDrained else { return false }
        let turn = loop.now
        return loop.stamp().nanoseconds(since: turn) < Connection.freshness
    }

    /// Whether the peer had closed its side before anything of the request reached it, so that it cannot have acted on
    /// the request. That is so if the connection ended by FIN (an RST after one is EPIPE; ECONNRESET is an RST without
    /// one), and the peer's kernel has acknowledged nothing of what was sent since the lease. An RST alone proves
    /// nothing: its acknowledgement is not looked at, and a server may have read the request before it.
    func wasClosedBeforeRequest(_ exchange: Exchange, _ cause: Errno?) -> Bool {
        guard cause == nil || cause == .brokenPipe, let unacknowledged = link.unacknowledged else { return false }
        return UInt64(unacknowledged) >= link.secure?.ciphertextSent ?? exchange.report.bytesSent
    }

    func lease(to exchange: Exchange) {
        machine.leased()
        link.secure?.countFromHere()
        throttle = exchange.keepToRates(after: throttle, at: loop.now)
        keeper = exchange.keeper
        self.exchange = exchange
    }

    /// Whether another exchange may follow the one just completed.
    func isReusable(after exchange: Exchange) -> Bool {
        guard case .done = exchange.sending, exchange.request?.closes == false, link.refusal == nil else {
            return false
        }
        return machine.mayServeAnother(
            after: reading?.parser.persistence ?? .close,
            at: loop.sinceBoot,
            limit: engine.configuration.exchangesPerConnection
        )
    }

    /// Whether the server closed with its answer without announcing that.
    var isFinishedUnannounced: Bool { peerFinished && reading?.parser.persistence == .keepAlive }

    /// Begins to read an answer to `exchange`, of which the first bytes have come.
    func beginReading(_ exchange: Exchange) -> Reading {
        let reading = engine.readings.next
        reading.pace = .usual
        if let request = exchange.request { reading.begin(request, engine.configuration.limits) }
        self.reading = reading
        return reading
    }

    /// Keeps the reading, since the bytes that came did not end the response. Returns false if the heads that have come
    /// in part take too much memory together.
    func holdReading(_ reading: Reading) -> Bool {
        if reading === engine.readings.next { engine.readings.replaceNext(engine.configuration) }
        engine.readings.count(reading)
        return engine.readings.held <= engine.configuration.heldHeadBytes
    }

    /// Ends the reading: the response is complete, and nothing of it is needed any more.
    func endReading() {
        guard let reading else { return }
        machine.answered(at: loop.now)
        endGathering()
        self.reading = nil
        engine.readings.keep(reading)
    }

    func park() {
        exchange = nil
        machine.parked(at: loop.sinceBoot)
        engine.observe(.parked(connection: number))
        link.secure?.releaseBuffers()
        // The timer of an earlier parking stays armed: it re-arms itself when it finds the connection idle for a
        // shorter time.
        if timer == nil { armIdleTimer(machine.idleLimit(engine.idleLimit)) }
    }

    /// Notes the peer's version and hints.
    func note(_ head: ResponseHead) {
        host.isHTTP10 = head.version == .http10
        guard head.contains(.keepAlive), engine.configuration.foreseesCloses, let hint = KeepAliveHint(head.fields)
        else { return }
        if machine.heard(hint) { cancelTimer() }
    }

    func timerFired(_ id: TimerID) {
        if let exchange { gatheringTimerFired(id, exchange) }
        guard id == timer else { return }
        timer = nil
        switch machine.checkIdle(at: loop.sinceBoot, idleLimit: engine.idleLimit) {
        case .nothing: break
        case .expired: engine.closeIdle(self, .expired)
        case .wait(let left): armIdleTimer(left)
        }
    }

    private func armIdleTimer(_ nanoseconds: Int64) {
        timer = loop.arm(at: loop.now.advanced(byNanoseconds: nanoseconds), self)
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    // MARK: Ends

    /// Returns the link, still registered, for another protocol's connection. This one is over, and observers are not
    /// told.
    func giveAway() -> Link {
        _ = machine.closed()
        cancelTimer()
        endReading()
        exchange = nil
        link.updateInterest(reading: false, writing: false)
        return link.take()
    }

    /// Releases everything. `abruptly` sends RST: after a truncated request, so that the peer cannot take it for whole.
    func close(_ reason: EngineEvent.Closing, abruptly: Bool) {
        guard machine.closed() else { return }
        exchange = nil
        engine.observe(.closed(connection: number, reason))
        cancelTimer()
        link.close(abruptly: abruptly)
        endReading()
    }
}
