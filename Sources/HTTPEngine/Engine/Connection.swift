internal import HTTP1
internal import Reactor

/// One socket and what it is busy with. Loop-confined.
///
/// ```
///   (Dial) ──▶ busy(exchange) ◀──▶ idle(since)
///                   │                  │
///                   └────▶ closed ◀────┘
/// ```
/// busy: that exchange's response is awaited, or coming in (`reading`). idle: between messages, nothing queued to
/// send, nothing unread that we know of; any news from the socket closes it (RFC 9112 §9.5). closed: no descriptor,
/// no registration, no timer.
final class Connection: ReadinessHandler, TimerHandler {
    enum State {
        case idle(since: Instant)
        case busy(Exchange)
        /// Another protocol's; neither in the pool nor in the engine's table any more.
        case upgraded(UpgradedConnection)
        case closed
    }

    /// Reads a turn, of one buffer each: 256 KiB, then the others' turn comes. Level triggering brings us back.
    static let readsPerTurn = 4
    /// Parts of a streamed body a turn, so that a source of small ones cannot hold the loop.
    static let partsPerTurn = 16
    /// A file's turn where `sendfile` takes it, and its bites where it is read: sixteen of these are a turn.
    static let slice = 1 << 20
    static let bite = 64 << 10

    /// For so many nanoseconds of a turn a socket that has been emptied in it counts as empty: less than a packet takes from a server
    /// to its neighbour and back.
    private static let freshness: Int64 = 100_000

    let id: ConnectionID
    let engine: Engine
    let loop: EventLoop
    let host: Host
    let record: ConnectionRecord
    /// In the order of their opening, for observers.
    let number: Int

    var state: State
    var queue = SendQueue()
    /// Nil until the first byte of the response.
    private(set) var reading: Reading?
    /// The peer's FIN is behind what we are reading: whatever the fields say, nothing more can be sent here.
    var peerFinished = false

    private var transport: Transport?
    let token: Token
    private var interest: Interest = [.read, .peerFinish]
    /// Epoll refused to wait for what we wait for: no event will bring an exchange here to its end.
    private(set) var refusal: Errno?
    /// Left the epoll set because a paused connection's peer reset it: HUP cannot be masked and would spin.
    private var isSuspended = false
    private let opened: Instant
    private var exchanges: UInt32 = 0
    /// When its last response ended.
    private(set) var answered: Instant
    private var timer: TimerID?
    /// The server's word on how long it keeps an idle connection, in nanoseconds and less our margin; and how many more
    /// exchanges it serves.
    private var hintedIdle = Int64.max
    private var hintedExchanges = UInt32.max

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
        self.transport = consume transport
        self.token = token
        self.record = record
        self.number = number
        self.id = id
        self.host = host
        self.engine = engine
        loop = engine.loop
        opened = engine.loop.sinceBoot
        answered = engine.loop.now
        state = .idle(since: opened)
        engine.loop.handOver(token, to: self)
    }

    var isReused: Bool { exchanges > 1 }

    // MARK: Events

    func ready(_ readiness: Readiness) {
        switch state {
        case .closed:
            return
        case .idle:
            if secure != nil { return idleNews(readiness) }
            // FIN, or bytes nobody asked for: either way not ours to use again (RFC 9112 §9.2). What an exchange that
            // has ended asked the loop for is no news.
            guard readiness != .rescheduled else { return }
            engine.closeIdle(self, .peer)
        case .busy(let exchange):
            if !readiness.isDisjoint(with: [.peerFinished, .hungUp]) { peerFinished = true }
            if let refusal { return engine.fail(exchange, .system(refusal)) }
            if let failure = secure?.sealFailure { return engine.fail(exchange, .tls(failure)) }
            if readiness.contains(.writable) { flushSecure() }
            if case .broken(let error) = exchange.sending, !error.isPeerClosure {
                return engine.fail(exchange, .sendFailed(error))
            }
            if !readiness.isDisjoint(with: [.writable, .rescheduled]) { pump(exchange) }
            guard isServing(exchange) else { return }
            if !exchange.isReading {
                if !readiness.isDisjoint(with: [.hungUp, .failed]) { suspend() }
            } else if !readiness.isDisjoint(with: [.readable, .peerFinished, .hungUp, .failed, .rescheduled]) {
                receive(exchange)
            }
        case .upgraded(let connection):
            connection.ready(readiness)
        }
    }

    func isServing(_ exchange: Exchange) -> Bool {
        if case .busy(let current) = state { current === exchange } else { false }
    }

    // MARK: Lease and release

    /// Whether it can carry a request now. Epoll has said nothing as of the loop's last wait; what came since then shows in the socket
    /// alone: the server's FIN, or an answer to no request, which would pass for the next one's.
    var isAlive: Bool {
        guard case .idle(let since) = state, !isTooOld else { return false }
        // The timer stood still if the machine slept.
        return loop.sinceBoot.nanoseconds(since: since) < idleLimit && isQuiet
    }

    /// Whether the socket holds nothing unread: no bytes, no end.
    var isQuiet: Bool { transport?.socket.probe() == .quiet }

    /// Whether the socket holds bytes that no request has asked for. Over TLS they may be the session's own.
    var holdsStrayBytes: Bool { secure == nil && transport?.socket.probe() == .strayBytes }

    /// Whether the clock says that the response ended just now. For a connection whose response has ended in this turn: the read that
    /// brought the end has emptied the socket, and another look would cost a fifteenth of a request's time. The check fails where the
    /// delegate has worked since then, or where another process had the core.
    var isJustDrained: Bool {
        let turn = loop.now
        return loop.stamp().nanoseconds(since: turn) < Connection.freshness
    }

    /// Whether the peer had closed its side before anything of the request reached it, so that it cannot have acted on it: the
    /// connection ended by FIN (an RST behind one is EPIPE; ECONNRESET is an RST without one), and of all that was sent since the lease the
    /// peer's kernel has acknowledged nothing. An RST alone proves nothing: its acknowledgement is not looked at, and a server may have read
    /// the request before.
    func wasClosedBeforeRequest(_ exchange: Exchange, _ cause: Errno?) -> Bool {
        guard cause == nil || cause == .brokenPipe, let unacknowledged = transport?.socket.unacknowledged else {
            return false
        }
        return UInt64(unacknowledged) >= secure?.ciphertextSent ?? exchange.report.bytesSent
    }

    /// For the choice of which one makes room.
    var idleSince: Instant {
        if case .idle(let since) = state { since } else { .never }
    }

    func lease(to exchange: Exchange) {
        exchanges &+= 1
        if hintedExchanges < .max { hintedExchanges &-= 1 }
        transport?.secure?.countFromHere()
        state = .busy(exchange)
    }

    /// Whether another exchange may follow the one just completed.
    func isReusable(after exchange: Exchange) -> Bool {
        guard case .done = exchange.sending, exchange.request?.closes == false else { return false }
        guard reading?.parser.persistence == .keepAlive, !peerFinished, hintedExchanges > 0, refusal == nil else {
            return false
        }
        return Int(exchanges) < engine.configuration.exchangesPerConnection && !isTooOld
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
        answered = loop.now
        endGathering()
        self.reading = nil
        engine.readings.keep(reading)
    }

    func park() {
        state = .idle(since: loop.sinceBoot)
        engine.observe(.parked(connection: number))
        secure?.releaseBuffers()
        // The timer of an earlier parking is left armed: it re-arms itself when it finds us younger.
        if timer == nil { timer = loop.arm(at: loop.now.advanced(byNanoseconds: idleLimit), self) }
    }

    /// The peer's version; and `Keep-Alive: timeout=5, max=100`: hints, taken with a second's margin for our request to arrive in time.
    func note(_ head: ResponseHead) {
        host.isHTTP10 = head.version == .http10
        guard head.contains(.keepAlive), let hint = KeepAliveHint(head.fields) else { return }
        if let seconds = hint.timeout {
            let limit = (Int64(seconds) - 1) * 1_000_000_000
            if limit < hintedIdle, let timer = timer.take() { loop.cancel(timer) }
            hintedIdle = limit
        }
        if let count = hint.max { hintedExchanges = count }
    }

    func timerFired(_ id: TimerID) {
        if case .busy(let exchange) = state { gatheringTimerFired(id, exchange) }
        guard id == timer else { return }
        timer = nil
        guard case .idle(let since) = state else { return }
        let age = loop.sinceBoot.nanoseconds(since: since)
        let left = idleLimit - age
        if left <= 0 {
            engine.closeIdle(self, .expired)
        } else {
            timer = loop.arm(at: loop.now.advanced(byNanoseconds: left), self)
        }
    }

    private var idleLimit: Int64 { min(hintedIdle, engine.idleLimit) }

    private var isTooOld: Bool {
        hintedIdle <= 0 || loop.sinceBoot.nanoseconds(since: opened) > engine.maximumAge - ageDiscount
    }

    /// This connection's part of the spread: multiples of the golden ratio are nowhere dense.
    private var ageDiscount: Int64 {
        guard engine.maximumAgeSpread > 0 else { return 0 }
        let part = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
        return Int64(part.multipliedFullWidth(by: UInt64(engine.maximumAgeSpread)).high)
    }

    // MARK: The socket

    var secure: TLSLayer? { transport?.secure }

    func read(into buffer: ReadBuffer, atMost limit: Int = .max) throws(Errno) -> Socket.Read {
        try transport?.read(into: buffer, atMost: limit) ?? .endOfStream
    }

    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> Int? {
        let count = try transport?.write(first, second)
        // No event will come of it: the exchange hears next turn.
        if secure?.sealFailure != nil { loop.reschedule(token) }
        return count
    }

    /// The error that epoll announced, taken from the socket.
    var pendingError: Errno? { transport?.socket.pendingError }

    func shutdownWrite() { transport?.socket.shutdownWrite() }

    /// Whether the kernel may take files as they are: nothing stands between us and the socket.
    var sendsFiles: Bool { secure == nil }

    func write(_ file: OpenFile, at offset: UInt64, atMost count: Int) throws(Errno) -> Int? {
        try transport?.socket.send(file, at: offset, atMost: count)
    }

    /// The socket is readable from so many bytes on.
    func wake(for count: Int) throws(Errno) { try transport?.socket.wakeReader(for: count) }

    func flush(atMost count: Int = .max) throws(Errno) -> SendQueue.Progress {
        try queue.flush(atMost: count) { first, second throws(Errno) in try write(first, second) }
    }

    /// What TLS says by itself. A socket that takes nothing more is found out by what is sent or read next.
    func flushSecure() {
        // Nearly always there is nothing.
        guard let secure, secure.hasOutput else { return }
        try? transport?.flush()
    }

    /// Part of the request may be with the peer already, though it does not count as sent.
    var hasUncountedBytes: Bool { (transport?.owed ?? 0) > 0 }

    /// Reads unless paused, and hears of room to write while something waits to be sent.
    func updateInterest(reading: Bool, writing: Bool) {
        var wanted: Interest = reading ? [.read, .peerFinish] : []
        let hasUse = secure?.waitsForInput != true
        if writing && hasUse || transport?.hasUnsent == true { wanted.insert(.write) }
        guard wanted != interest else { return }
        interest = wanted
        do throws(Errno) { try loop.setInterest(token, wanted) } catch { refused(error) }
    }

    /// Something waits to be sent: bytes in the queue, or a file that is in none.
    var awaitsRoom: Bool { interest.contains(.write) }

    /// - Parameter reads: false to hear of the socket again, but not of what it holds.
    func resumeReading(_ reads: Bool = true) {
        if isSuspended {
            isSuspended = false
            do throws(Errno) { try loop.resume(token) } catch { refused(error) }
        }
        updateInterest(reading: reads, writing: awaitsRoom)
        loop.reschedule(token)
    }

    /// Out of memory, for epoll. The exchange hears of it next turn: not from within a call of its own.
    func refused(_ error: Errno) {
        refusal = error
        loop.reschedule(token)
    }

    func suspend() {
        guard !isSuspended else { return }
        isSuspended = true
        loop.suspend(token)
    }

    /// Gives the socket away, registered as it is, with the layers around it; this connection is over.
    func surrender() -> Transport? {
        if case .closed = state { return nil }
        state = .closed
        engine.observe(.closed(connection: number, .used))
        if let timer { loop.cancel(timer) }
        timer = nil
        if isSuspended { try? loop.resume(token) }
        isSuspended = false
        queue.removeAll()
        endReading()
        return transport.take()
    }

    /// Lets go of everything. `abruptly` sends RST: after a cut request, so that the peer cannot take it for whole.
    func close(_ reason: EngineEvent.Closing, abruptly: Bool) {
        if case .closed = state { return }
        state = .closed
        engine.observe(.closed(connection: number, reason))
        if let timer { loop.cancel(timer) }
        timer = nil
        loop.deregister(token)
        if abruptly { transport?.socket.resetOnClose() } else { transport?.sayGoodbye() }
        transport = nil
        queue.removeAll()
        endReading()
    }
}
