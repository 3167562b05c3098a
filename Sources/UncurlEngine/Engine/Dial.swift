internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// One attempt to open a connection for a host's pool: owned by the pool, not by the exchange that caused it.
///
/// ```
///   start ──▶ connecting (Connector) ──▶ setting up (ConnectionSetup) ──▶ the engine has a connection
///                 ▲  │└──────────────┬────────────┘
///                 │  ▼       failed, timed out, cancelled
///                waiting (no descriptor, also for a look-up while it is set up)
/// ```
final class Dial: ConnectorDelegate, TimerHandler {
    /// The purpose of the connection: the first waiter, an exchange that had its turn and retries, a probe or a stream.
    /// A probe's limit also applies to the end of its connection. A stream dial's limit is kept for another attempt.
    enum Purpose { case pool, retry(ExchangeID), probe(Probe, Duration?), stream(StreamDial, Duration?) }

    private enum State {
        case fresh
        case connecting(Connector)
        /// It waits for a descriptor; the error is used if none comes free before its limit.
        case waiting(EngineError)
        case settingUp(ConnectionSetup)
        case over
    }

    let engine: Engine
    let host: Host
    let purpose: Purpose
    private var state = State.fresh
    private var timer: TimerID?
    private var deadline = Instant.never
    /// The number of the question about a certificate that waits for its answer.
    private var question: UInt64?
    /// Since when it waits for the answer to a question; nil if it does not.
    private(set) var askingSince: Instant?
    var hasLent = false
    /// The phase of the dial, for the error if a limit is exceeded now.
    private var phase = TimeoutPhase.connect
    private var timings: ConnectTimings?
    private var handshake = HandshakeTimings()
    private var security: TLSInfo?
    private var proxy: Proxy?
    /// How often the proxy has refused the CONNECT because of its credentials.
    var proxyRounds = 0
    /// Whether its connection serves one exchange at most; see ``Engine/retireConnections(where:)``.
    var isRetired = false

    init(_ engine: Engine, _ host: Host, _ purpose: Purpose) {
        self.engine = engine
        self.host = host
        self.purpose = purpose
        proxy = host.route.proxy
    }

    func start(timeout: Duration?) {
        prepare(timeout)
        connect()
    }

    private func prepare(_ timeout: Duration?) {
        limit(to: timeout.map(engine.loop.now.advanced(by:)) ?? .never)
        engine.security.prepareTrust(for: host.destination, by: host.route)
    }

    /// Begins TLS with the host on a connection that already exists: after STARTTLS and the like.
    ///
    /// - Parameter rest: bytes that have come and have not been read. The handshake reads them, so they are at most a
    ///   peer's fault: nothing that was sent unencrypted is taken for a message of the secure peer.
    func secure(_ link: consuming Link, _ record: ConnectionRecord, _ rest: [UInt8], timeout: Duration?) {
        prepare(timeout)
        (timings, proxy) = (record.timings, record.proxy)
        setUp(link, rest)
    }

    private func setUp(_ link: consuming Link, _ rest: [UInt8] = []) {
        let setup = ConnectionSetup(self, link)
        state = .settingUp(setup)
        setup.begin(rest.span)
    }

    /// Connects to the route's first hop, and once more if a proxy is to be asked again on another connection.
    func connect() {
        let connector = Connector(
            on: engine.loop,
            resolver: engine.resolver,
            to: host.route.target,
            options: engine.connectorOptions(to: host.route.target, for: host),
            delegate: self
        )
        state = .connecting(connector)
        connector.start()
    }

    func cancel() {
        switch state {
        case .fresh, .waiting, .over: break
        case .connecting(let connector): connector.cancel()
        case .settingUp(let setup): setup.cancel()
        }
        end()
    }

    func timerFired(_ id: TimerID) {
        timer = nil
        if case .waiting = state {
            engine.leaveLine(self)
            return giveUpWaiting()
        }
        cancel()
        engine.dialFailed(self, .timedOut(phase))
    }

    // MARK: Without a descriptor

    /// Whether the waiters that it would serve have been served by other connections.
    var isSurplus: Bool {
        if case .pool = purpose { host.pool.hasSurplusDials } else { false }
    }

    func giveUpWaiting() {
        if case .waiting(let error) = state { failed(error) }
    }

    /// Lets the dial wait for a descriptor and begin again, since none was left. It fails with the error if none can be
    /// had.
    func awaitDescriptor(orFail error: EngineError) {
        state = .waiting(error)
        if !engine.awaitDescriptor(self) { failed(error) }
    }

    // MARK: Connecting

    func connector(_ connector: Connector, didConnect socket: consuming Socket, token: Token, timings: ConnectTimings) {
        self.timings = timings
        let link = Link(socket, token, on: engine.loop)
        if host.route.steps.isEmpty { opened(link) } else { setUp(link) }
    }

    func connector(_ connector: Connector, didFail error: ConnectError) {
        let failure: EngineError = host.route.proxy == nil ? .connect(error) : .proxy(.unreachable(error))
        if error.isResourceExhaustion { awaitDescriptor(orFail: failure) } else { failed(failure) }
    }

    // MARK: Setting up

    func awaitsRoots() { engine.observe(.awaitingRoots(host.destination.origin)) }

    func handshakeBegins() {
        phase = .handshake
        handshake.start = engine.loop.stamp()
    }

    func handshakeEnded(_ info: TLSInfo) {
        handshake.end = engine.loop.stamp()
        security = info
    }

    func ask(about trust: PeerTrust, ofProxy isProxy: Bool, then: @escaping (TrustVerdict) -> Void) {
        let answered = pause(usual: .builtIn, then)
        let destination = host.destination
        if engine.security.evaluator(for: destination) != nil {
            engine.observe(.askingForTrust(destination.origin))
        }
        let proxy = isProxy ? host.route.proxy : nil
        question = engine.security.ask(about: trust, of: proxy, to: destination, then: answered)
    }

    /// Asks for an identity. A proxy is never shown an identity that is meant for an origin.
    func ask(about request: IdentityRequest, ofProxy isProxy: Bool, then: @escaping (IdentityAnswer) -> Void) {
        guard !isProxy else { return then(.configured) }
        question = engine.security.ask(about: request, of: host.destination, then: pause(usual: .configured, then))
    }

    /// Replaces the missing answer of an evaluator that had no user to ask. The exchange that waited before the
    /// question gets the usual answer, if it still waits. Nil if another exchange waits now, or none: its user must be
    /// asked.
    private func unasked<Given>(_ usual: Given, since waiter: ExchangeID?) -> Given? {
        switch purpose {
        case .pool, .retry: waiter != nil && waiter == engine.waiter(for: self) ? usual : nil
        case .probe, .stream: usual
        }
    }

    private func ask(_ isAsking: Bool) {
        guard isAsking != (askingSince != nil) else { return }
        askingSince = isAsking ? engine.loop.now : nil
        engine.dial(self, isAsking: isAsking)
    }

    /// Replaces the time limit, since a decision that people make may take longer than a network should. The function
    /// that is returned restores the old limit, and passes the answer on unless the dial is gone.
    private func pause<Given>(usual: Given, _ then: @escaping (Given) -> Void) -> (Given?) -> Void {
        let (outer, left) = (phase, deadline.nanoseconds(since: engine.loop.now))
        phase = .trustDecision
        limit(to: engine.loop.now.advanced(by: engine.security.timeLimit(for: host.destination)))
        ask(true)
        let waiter = engine.waiter(for: self)
        return { [weak self] answer in
            guard let self else { return }
            question = nil
            ask(false)
            phase = outer
            // Without a limit, this is still far in the future.
            limit(to: engine.loop.now.advanced(byNanoseconds: left))
            if let answer = answer ?? unasked(usual, since: waiter) { then(answer) } else { engine.dialUnjudged(self) }
        }
    }

    /// The scope of TLS sessions: they are resumed only if the same peer is reached in the same way.
    var scope: String {
        // A ticket from another route would tell the origin that both routes lead to one client.
        let proxy = host.route.proxy.map { " by \($0) for \($0.credentials?.user ?? "")" } ?? ""
        // Unlike the authority, the host has its zone.
        let origin = host.destination.origin
        return "\(origin.host) \(origin.port) \(host.destination.endpoint)\(proxy)"
    }

    /// Whether the connection begins with another protocol than HTTP, one in which the server may speak first.
    var isForStream: Bool {
        if case .stream = purpose { true } else { false }
    }

    func opened(_ link: consuming Link, unread: [UInt8] = []) {
        end()
        guard let timings else { return }
        let local = engine.configuration.recordsLocalAddress ? link.localAddress : nil
        engine.dialled(self, link, ConnectionRecord(timings, handshake, security, proxy, local), unread: unread)
    }

    func failed(_ error: EngineError) {
        end()
        engine.dialFailed(self, error)
    }

    private func limit(to instant: Instant) {
        stopTimer()
        deadline = instant
        if instant < .never { timer = engine.loop.arm(at: instant, self) }
    }

    private func end() {
        stopTimer()
        if let question { engine.security.forget(question) }
        question = nil
        ask(false)
        state = .over
    }

    private func stopTimer() {
        if let timer { engine.loop.cancel(timer) }
        timer = nil
    }
}
