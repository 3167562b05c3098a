internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// Receives what a dial reports to its engine, and what it asks of it. Called on the loop.
protocol DialOwner: AnyObject {
    /// Returns how to connect to the first hop. It is called for each attempt, since local addresses take turns.
    func connectorOptions(to target: Connector.Target, for host: Host) -> Connector.Options

    /// Lets the dial wait for a descriptor, since none was left. Returns false if none can be had: the dial fails at
    /// once.
    func awaitDescriptor(_ dial: Dial) -> Bool

    /// Notes that the dial no longer waits for a descriptor.
    func leaveLine(_ dial: Dial)

    /// Hands over the connection, which is open and now belongs to the owner.
    ///
    /// - Parameter unread: the first bytes of a server that speaks first. Empty unless the dial is for a stream.
    func dialled(
        _ dial: Dial,
        _ transport: consuming Transport,
        _ token: Token,
        _ record: ConnectionRecord,
        unread: [UInt8]
    )

    func dialFailed(_ dial: Dial, _ error: EngineError)

    /// Returns the exchange that the connection would serve if the dial were done now; nil if none waits.
    func waiter(for dial: Dial) -> ExchangeID?

    /// Closes the connection, because its evaluator could ask no user about the peer. Dials again if exchanges wait.
    func dialUnjudged(_ dial: Dial)

    /// Notes whether the dial waits for the answer to a question. Called in pairs; the second call may come with its
    /// end.
    func dial(_ dial: Dial, isAsking: Bool)

    func observed(_ event: EngineEvent)
}

/// The services that the dials of one engine use.
struct DialServices {
    let loop: EventLoop
    let resolver: Resolver
    let security: EngineSecurity
    let authenticators: ProxyAuthenticators
    /// For the answers of proxies to CONNECT: ``EngineConfiguration/limits``, ``EngineConfiguration/leniency``.
    let limits: ParserLimits
    let leniency: Leniency
    /// ``EngineConfiguration/recordsLocalAddress``.
    let recordsLocalAddress: Bool
}

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

    let services: DialServices
    private let owner: any DialOwner
    let host: Host
    let purpose: Purpose
    private var state = State.fresh
    private var timer: TimerID?
    private var deadline = Instant.never
    private var question: UInt64?
    private var identityQuestion: UInt64?
    /// Since when it waits for the answer to a question; nil if it does not.
    private(set) var askingSince: Instant?
    /// Whether it has lent its place in the pool.
    private(set) var hasLent = false
    /// The phase of the dial, for the error if a limit is exceeded now.
    private var phase = TimeoutPhase.connect
    private var timings: ConnectTimings?
    private var handshake = HandshakeTimings()
    private var security: TLSInfo?
    /// The proxy through which the origin is reached.
    private var proxy: Proxy?
    /// How often the proxy has refused the CONNECT because of its credentials.
    var proxyRounds = 0
    /// Whether its connection serves one exchange at most; see ``Engine/retireConnections(where:)``.
    var isRetired = false

    init(_ services: DialServices, owner: any DialOwner, host: Host, purpose: Purpose) {
        self.services = services
        self.owner = owner
        self.host = host
        self.purpose = purpose
        proxy = host.route.proxy
    }

    func start(timeout: Duration?) {
        limit(to: timeout.map(services.loop.now.advanced(by:)) ?? .never)
        services.security.prepareTrust(for: host.destination, by: host.route)
        connect()
    }

    /// Begins TLS with the host on a connection that already exists: after STARTTLS and the like.
    ///
    /// - Parameter rest: bytes that have come and have not been read. The handshake reads them, so they are at most a
    ///   peer's fault: nothing that was sent unencrypted is taken for a message of the secure peer.
    func secure(
        _ transport: consuming Transport,
        _ token: Token,
        _ record: ConnectionRecord,
        _ rest: [UInt8],
        timeout: Duration?
    ) {
        limit(to: timeout.map(services.loop.now.advanced(by:)) ?? .never)
        services.security.prepareTrust(for: host.destination, by: host.route)
        (timings, proxy) = (record.timings, record.proxy)
        let setup = ConnectionSetup(self, transport, token, host.route.steps)
        state = .settingUp(setup)
        setup.begin(rest.span)
    }

    /// Connects to the route's first hop, and once more if a proxy is to be asked again on another connection.
    func connect() {
        let connector = Connector(
            on: services.loop,
            resolver: services.resolver,
            to: host.route.target,
            options: owner.connectorOptions(to: host.route.target, for: host),
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
            owner.leaveLine(self)
            return giveUpWaiting()
        }
        cancel()
        owner.dialFailed(self, .timedOut(phase))
    }

    // MARK: Without a descriptor

    /// Whether the waiters that it would serve have been served by other connections.
    var isSurplus: Bool {
        if case .pool = purpose { host.pool.hasSurplusDials } else { false }
    }

    /// Fails the dial, since no descriptor has come free.
    func giveUpWaiting() {
        if case .waiting(let error) = state { failed(error) }
    }

    /// Lets the dial wait for a descriptor and begin again, since none was left. It fails with the error if none can be
    /// had.
    func awaitDescriptor(orFail error: EngineError) {
        state = .waiting(error)
        if !owner.awaitDescriptor(self) { failed(error) }
    }

    // MARK: Connecting

    func connector(_ connector: Connector, didConnect socket: consuming Socket, token: Token, timings: ConnectTimings) {
        self.timings = timings
        guard !host.route.steps.isEmpty else { return opened(Transport(socket), token) }
        let setup = ConnectionSetup(self, Transport(socket), token, host.route.steps)
        state = .settingUp(setup)
        setup.begin()
    }

    func connector(_ connector: Connector, didFail error: ConnectError) {
        let failure: EngineError = host.route.proxy == nil ? .connect(error) : .proxy(.unreachable(error))
        if error.isResourceExhaustion { awaitDescriptor(orFail: failure) } else { failed(failure) }
    }

    // MARK: Setting up

    /// Reports that the handshake cannot go on without the trust store.
    func awaitsRoots() { owner.observed(.awaitingRoots(host.destination.origin)) }

    func handshakeBegins() {
        phase = .handshake
        handshake.start = services.loop.stamp()
    }

    func handshakeEnded(_ info: TLSInfo) {
        handshake.end = services.loop.stamp()
        security = info
    }

    func ask(about trust: PeerTrust, ofProxy isProxy: Bool, then: @escaping (TrustVerdict) -> Void) {
        let resume = pause()
        let destination = host.destination
        if services.security.evaluator(for: destination) != nil {
            owner.observed(.askingForTrust(destination.origin))
        }
        let proxy = isProxy ? host.route.proxy : nil
        let waiter = owner.waiter(for: self)
        question = services.security.ask(about: trust, of: proxy, to: destination) { [weak self] verdict in
            self?.question = nil
            if resume() { self?.judged(verdict ?? self?.unasked(.builtIn, since: waiter), then) }
        }
    }

    /// Asks for an identity. A proxy is never shown an identity that is meant for an origin.
    func ask(about request: IdentityRequest, ofProxy isProxy: Bool, then: @escaping (IdentityAnswer) -> Void) {
        guard !isProxy else { return then(.configured) }
        let resume = pause()
        let waiter = owner.waiter(for: self)
        identityQuestion = services.security.ask(about: request, of: host.destination) { [weak self] answer in
            self?.identityQuestion = nil
            if resume() { self?.judged(answer ?? self?.unasked(.configured, since: waiter), then) }
        }
    }

    /// Replaces the missing answer of an evaluator that had no user to ask. The exchange that waited before the
    /// question gets the usual answer, if it still waits. Nil if another exchange waits now, or none: its user must be
    /// asked.
    private func unasked<Given>(_ usual: Given, since waiter: ExchangeID?) -> Given? {
        switch purpose {
        case .pool, .retry: waiter != nil && waiter == owner.waiter(for: self) ? usual : nil
        case .probe, .stream: usual
        }
    }

    private func judged<Given>(_ answer: Given?, _ then: (Given) -> Void) {
        if let answer { then(answer) } else { owner.dialUnjudged(self) }
    }

    func lendPlace() { hasLent = true }

    /// Returns whether it had lent its place, which is taken back.
    func takePlaceBack() -> Bool {
        defer { hasLent = false }
        return hasLent
    }

    private func ask(_ isAsking: Bool) {
        guard isAsking != (askingSince != nil) else { return }
        askingSince = isAsking ? services.loop.now : nil
        owner.dial(self, isAsking: isAsking)
    }

    /// Replaces the time limit, since a decision that people make may take longer than a network should. The function
    /// that is returned restores the old limit, and returns false if the dial is gone.
    private func pause() -> () -> Bool {
        let resumed = (phase: phase, left: deadline.nanoseconds(since: services.loop.now))
        phase = .trustDecision
        let span = services.security.timeLimit(for: host.destination)
        limit(to: services.loop.now.advanced(by: span))
        ask(true)
        return { [weak self] in
            guard let self else { return false }
            ask(false)
            phase = resumed.phase
            // Without a limit, this is still far in the future.
            limit(to: services.loop.now.advanced(byNanoseconds: resumed.left))
            return true
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

    func opened(_ transport: consuming Transport, _ token: Token, unread: [UInt8] = []) {
        end()
        guard let timings else { return }
        let local = services.recordsLocalAddress ? transport.socket.localAddress : nil
        let record = ConnectionRecord(timings, handshake, security, proxy, local)
        owner.dialled(self, transport, token, record, unread: unread)
    }

    func setupFailed(_ error: EngineError) { failed(error) }

    private func failed(_ error: EngineError) {
        end()
        owner.dialFailed(self, error)
    }

    private func limit(to instant: Instant) {
        stopTimer()
        deadline = instant
        if instant < .never { timer = services.loop.arm(at: instant, self) }
    }

    private func end() {
        stopTimer()
        if let question { services.security.forget(trustQuestion: question) }
        if let identityQuestion { services.security.forget(identityQuestion: identityQuestion) }
        question = nil
        identityQuestion = nil
        ask(false)
        state = .over
    }

    private func stopTimer() {
        if let timer { services.loop.cancel(timer) }
        timer = nil
    }
}

extension Connector.Target {
    /// The family, if it is known: for addresses, and for a host that is one.
    var family: SocketAddress.Family? {
        switch self {
        case .addresses(let addresses): addresses.first?.family
        case .host(let host, let port): SocketAddress(numericHost: host, port: port)?.family
        }
    }
}
