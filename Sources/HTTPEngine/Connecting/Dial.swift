internal import HTTPSemantics
internal import Reactor
internal import TLS

/// What a dial tells its engine, and asks of it. Called on the loop.
protocol DialOwner: AnyObject {
    /// How to connect to the first hop; asked for each attempt, since local addresses take turns.
    func connectorOptions(to target: Connector.Target, for host: Host) -> Connector.Options

    /// No descriptor was left. False: none is to be had, and the dial fails at once.
    func awaitDescriptor(_ dial: Dial) -> Bool

    /// The dial waits for a descriptor no more.
    func leaveLine(_ dial: Dial)

    /// The connection is open, and the owner's.
    func dialled(_ dial: Dial, _ transport: consuming Transport, _ token: Token, _ record: ConnectionRecord)

    func dialFailed(_ dial: Dial, _ error: EngineError)

    func observed(_ event: EngineEvent)
}

/// What the dials of one engine work with.
struct DialServices {
    let loop: EventLoop
    let resolver: Resolver
    let security: EngineSecurity
    let authenticators: ProxyAuthenticators
    /// ``EngineConfiguration/trustTimeout``.
    let trustTimeout: Duration
    /// ``EngineConfiguration/recordsLocalAddress``.
    let recordsLocalAddress: Bool
}

/// One attempt to open a connection for a host's pool: owned by the pool, not by the exchange that caused it.
///
/// ```
///   start ──▶ connecting (Connector) ──▶ setting up (ConnectionSetup) ──▶ the engine has a connection
///                 ▲  │└──────────────┬────────────┘
///                 │  ▼       failed, timed out, cancelled
///                waiting (no descriptor)
/// ```
final class Dial: ConnectorDelegate, TimerHandler {
    /// What the connection is for: the first waiter, an exchange that had its turn and retries, a probe or a stream. A
    /// probe's limit holds for the end of its connection as well. A stream dial's is kept for another attempt.
    enum Purpose { case pool, retry(ExchangeID), probe(Probe, Duration?), stream(StreamDial, Duration?) }

    private enum State {
        case fresh
        case connecting(Connector)
        /// No descriptor was left; what it fails with if none comes free before its limit.
        case waiting(ConnectError)
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
    /// What the dial is doing, for the error of a limit that runs out now.
    private var phase = TimeoutPhase.connect
    private var timings: ConnectTimings?
    private var handshake = HandshakeTimings()
    private var security: TLSInfo?
    /// The proxy that the origin is reached by.
    private var proxy: Proxy?
    /// How often the proxy has refused our CONNECT for its credentials.
    var proxyRounds = 0

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

    /// TLS with the host on a connection that is there already: after STARTTLS and its like.
    ///
    /// - Parameter rest: what has come and has not been read. In the handshake it is no more than a peer's fault, so
    ///   that nothing said in the clear passes for the secure peer's word.
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

    /// To the route's first hop; once more if a proxy wants to be asked again on another connection.
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

    /// The waiters that it would serve have been served by others.
    var isSurplus: Bool {
        if case .pool = purpose { host.pool.hasSurplusDials } else { false }
    }

    /// No descriptor has come free.
    func giveUpWaiting() {
        if case .waiting(let error) = state { failed(unreachable(error)) }
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
        guard error.isResourceExhaustion else { return failed(unreachable(error)) }
        state = .waiting(error)
        if !owner.awaitDescriptor(self) { failed(unreachable(error)) }
    }

    private func unreachable(_ error: ConnectError) -> EngineError {
        host.route.proxy == nil ? .connect(error) : .proxy(.unreachable(error))
    }

    // MARK: Setting up

    /// The handshake has come as far as it can without the trust store.
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
        let asker = asker(isProxy)
        if services.security.hasEvaluator { owner.observed(.askingForTrust(asker)) }
        question = services.security.ask(about: trust, of: asker) { [weak self] verdict in
            self?.question = nil
            if resume() { then(verdict) }
        }
    }

    /// A proxy is never shown what is meant for an origin.
    func ask(about request: IdentityRequest, ofProxy isProxy: Bool, then: @escaping (IdentityAnswer) -> Void) {
        guard !isProxy else { return then(.configured) }
        let resume = pause()
        identityQuestion = services.security.ask(about: request, of: asker(isProxy)) { [weak self] answer in
            self?.identityQuestion = nil
            if resume() { then(answer) }
        }
    }

    private func asker(_ isProxy: Bool) -> Origin {
        let proxy = isProxy ? host.route.proxy.map { Origin(scheme: .https, host: $0.host, port: $0.port) } : nil
        return proxy ?? host.destination.origin
    }

    /// Puts another limit in force: a decision that people make may take longer than a network should. The function
    /// returned puts the first one back; false: the dial is gone.
    private func pause() -> () -> Bool {
        let resumed = (phase: phase, left: deadline.nanoseconds(since: services.loop.now))
        phase = .trustDecision
        limit(to: services.loop.now.advanced(by: services.trustTimeout))
        return { [weak self] in
            guard let self else { return false }
            phase = resumed.phase
            // Without a limit this is far in the future still.
            limit(to: services.loop.now.advanced(byNanoseconds: resumed.left))
            return true
        }
    }

    /// Sessions are resumed only where the same peer would be reached in the same way.
    var scope: String {
        // A ticket taken elsewhere would tell the origin that both ways lead to one client.
        let proxy = host.route.proxy.map { " by \($0) for \($0.credentials?.user ?? "")" } ?? ""
        return "\(host.destination.origin.authority) \(host.destination.endpoint)\(proxy)"
    }

    func opened(_ transport: consuming Transport, _ token: Token) {
        end()
        guard let timings else { return }
        let local = services.recordsLocalAddress ? transport.socket.localAddress : nil
        owner.dialled(self, transport, token, ConnectionRecord(timings, handshake, security, proxy, local))
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
        state = .over
    }

    private func stopTimer() {
        if let timer { services.loop.cancel(timer) }
        timer = nil
    }
}

extension Connector.Target {
    /// Known for addresses, and for a host that is one.
    var family: SocketAddress.Family? {
        switch self {
        case .addresses(let addresses): addresses.first?.family
        case .host(let host, let port): SocketAddress(numericHost: host, port: port)?.family
        }
    }
}
