internal import HTTP1
internal import Reactor

/// One socket and what it is busy with: the owner of a ``ConnectionMachine``, which decides, and of a ``Link``, which
/// moves bytes. Loop-confined.
///
/// Closed, it has no descriptor, no registration and no timer.
final class Connection: ReadinessHandler, TimerHandler {
    /// Parts of a streamed body a turn, so that a source of small ones cannot hold the loop.
    static let partsPerTurn = 16

    /// For so many nanoseconds of a turn a socket that has been emptied in it counts as empty: less than a packet takes
    /// from a server to its neighbour and back.
    private static let freshness: Int64 = 100_000

    let id: ConnectionID
    let engine: Engine
    let loop: EventLoop
    let host: Host
    let record: ConnectionRecord
    /// Its number in the order of opening, for observers.
    let number: Int

    private var machine: ConnectionMachine
    /// While the machine is busy.
    private var exchange: Exchange?
    var link: Link
    /// Nil until the first byte of the response.
    private(set) var reading: Reading?
    private var timer: TimerID?

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

    /// Since when it has been idle; never if it is not. The oldest one makes room.
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

    private func readyIdle(_ reaction: ConnectionMachine.Reaction) {
        if reaction.contains(.flush) {
            link.flushSecure()
            link.updateInterest(reading: true, writing: false)
        }
        if reaction.contains(.readNews), staysIdle() { return }
        if !reaction.isDisjoint(with: [.close, .readNews]) { engine.closeIdle(self, .peer) }
    }

    func isServing(_ exchange: Exchange) -> Bool { self.exchange === exchange }

    /// Nothing that the peer sends behind what is being read can be answered by a request.
    func peerEnded() { machine.peerEnded() }

    // MARK: Lease and release

    /// Whether it can carry a request now. Epoll has said nothing as of the loop's last wait; what came since then
    /// shows in the socket alone: the server's FIN, or an answer to no request, which would pass for the next one's.
    var isAlive: Bool { machine.isFresh(at: loop.sinceBoot, idleLimit: engine.idleLimit) && isQuiet }

    /// Whether the socket holds nothing unread: no bytes, no end. One look of the loop's tells it for all connections
    /// that a burst of requests takes; where that look cannot tell, the socket is asked.
    var isQuiet: Bool { !loop.mayHaveNews(link.token) || link.unread == .quiet }

    /// Whether the socket holds bytes that no request has asked for. Over TLS they may be the session's own.
    var holdsStrayBytes: Bool { link.secure == nil && link.unread == .strayBytes }

    /// Whether the clock says that the response ended just now. For a connection whose response has ended in this turn:
    /// the read that brought the end has emptied the socket, and another look would cost a fifteenth of a request's
    /// time. The check fails where the delegate has worked since then, or where another process had the core.
    var isJustDrained: Bool {
        let turn = loop.now
        return loop.stamp().nanoseconds(since: turn) < Connection.freshness
    }

    /// Whether the peer had closed its side before anything of the request reached it, so that it cannot have acted on
    /// it: the connection ended by FIN (an RST behind one is EPIPE; ECONNRESET is an RST without one), and of all that
    /// was sent since the lease the peer's kernel has acknowledged nothing. An RST alone proves nothing: its
    /// acknowledgement is not looked at, and a server may have read the request before.
    func wasClosedBeforeRequest(_ exchange: Exchange, _ cause: Errno?) -> Bool {
        guard cause == nil || cause == .brokenPipe, let unacknowledged = link.unacknowledged else { return false }
        return UInt64(unacknowledged) >= link.secure?.ciphertextSent ?? exchange.report.bytesSent
    }

    func lease(to exchange: Exchange) {
        machine.leased()
        link.secure?.countFromHere()
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

    /// Whether the server closed with its answer, which did not announce it.
    var isFinishedUnannounced: Bool { peerFinished && reading?.parser.persistence == .keepAlive }

    /// The first bytes of an answer to `exchange` are about to be read.
    func beginReading(_ exchange: Exchange) -> Reading {
        let reading = engine.readings.next
        reading.pace = .usual
        if let request = exchange.request { reading.parser.begin(answering: request.context) }
        self.reading = reading
        return reading
    }

    /// What came did not end the response: it keeps its reading until it does.
    func holdReading(_ reading: Reading) {
        if reading === engine.readings.next { engine.readings.replaceNext(engine.configuration) }
    }

    /// The response is whole, and nothing of it is needed any more.
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
        // The timer of an earlier parking is left armed: it re-arms itself when it finds us younger.
        if timer == nil { armIdleTimer(machine.idleLimit(engine.idleLimit)) }
    }

    /// The peer's version and hints.
    func note(_ head: ResponseHead) {
        host.isHTTP10 = head.version == .http10
        guard head.contains(.keepAlive), let hint = KeepAliveHint(head.fields) else { return }
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

    /// The link, registered as it is, for another protocol's connection; this one is over, without a word to observers.
    func giveAway() -> Link {
        _ = machine.closed()
        cancelTimer()
        endReading()
        exchange = nil
        link.updateInterest(reading: false, writing: false)
        return link.take()
    }

    /// Lets go of everything. `abruptly` sends RST: after a cut request, so that the peer cannot take it for whole.
    func close(_ reason: EngineEvent.Closing, abruptly: Bool) {
        guard machine.closed() else { return }
        exchange = nil
        engine.observe(.closed(connection: number, reason))
        cancelTimer()
        link.close(abruptly: abruptly)
        endReading()
    }
}
