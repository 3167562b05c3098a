internal import UncurlHTTP1
public import UncurlReactor
internal import UncurlTLS

/// Sends requests and reports the responses to delegates: connections, pool, deadlines, retries. It knows nothing of
/// cookies, redirects, caches or Foundation.
///
/// An engine lives on one loop, and everything here but ``handle`` is called on it. If it is released without
/// ``shutdown(within:then:)``, it stays until its exchanges and idle connections have ended by themselves. A loop that
/// ends before that calls no delegate: shut the engine down first.
@safe public final class Engine {
    /// The loop that the engine lives on.
    public let loop: EventLoop
    /// The configuration that the engine was made with.
    public let configuration: EngineConfiguration
    /// Receives events; nil by default. It may be changed at any time, on the loop.
    public var observer: (any EngineObserver)? {
        get { observing }
        set { observing = newValue }
    }
    /// A public stored property would cost a dynamic check for exclusive access with each event.
    private var observing: (any EngineObserver)?
    /// The services that dials use.
    let dialling: DialServices
    /// The part that all exchanges share.
    private let home: ExchangeHome
    let maximumAge: Int64
    let maximumAgeSpread: Int64
    let idleLimit: Int64
    /// Storage for the head that is being parsed: one for all connections, since the loop parses one at a time.
    var head = ResponseHead()
    /// The buffer into which content is decoded.
    let decoded: UnsafeMutableBufferPointer<UInt8>
    /// The buffer in which small chunks of one read are joined.
    let joined: UnsafeMutableBufferPointer<UInt8>

    var hosts = HostTable()
    var connections = SlotTable<Connection>()
    var dials = ObjectTable<Dial>()
    var probes = ObjectTable<Probe>()
    var starved = StarvedHosts()
    var descriptorLine = DescriptorLine()
    /// The connection whose exchange has just ended, while its delegate is told so: an exchange that is started in that
    /// call takes it.
    var warm: Connection?
    /// The exchanges that have been given back, and whose delegates have not been called yet.
    private var untold = 0
    var places = LentPlaces()
    var spareDecoders = DecoderShelf()
    var readings: ReadingShelf
    var localAddresses: LocalAddresses
    let authenticators = ProxyAuthenticators()
    /// How many idle connections were closed because bytes came that no request had asked for.
    public private(set) var strayConnections = 0
    var closingServers = ClosingServers()
    private(set) var exchanges: [Exchange] = []
    private var freeExchanges: [UInt32] = []
    /// Failures found while ``start(_:delegate:)`` was still running, to be reported once it has returned.
    private var overdue: [(ExchangeID, EngineError)] = []
    private(set) var isStarting = false
    private var life = Life.open

    private enum Life {
        case open
        case draining(limits: [TimerID], then: [() -> Void])
        case ended
    }

    /// - Parameters:
    ///   - loop: the loop on which the engine lives and calls its delegates.
    ///   - configuration: the settings for all requests.
    ///   - resolver: shared by engines that are to share look-ups; nil for one of its own.
    ///   - blocking: threads for files and other blocking work; nil for its own. They start when there is work.
    public init(
        on loop: EventLoop,
        configuration: EngineConfiguration = EngineConfiguration(),
        resolver: Resolver? = nil,
        blocking: BlockingPool? = nil
    ) {
        self.loop = loop
        self.configuration = configuration
        dialling = DialServices(
            loop: loop,
            resolver: resolver ?? Resolver(),
            security: EngineSecurity(on: loop, configuration, blocking ?? BlockingPool(name: "engine-io")),
            authenticators: authenticators,
            limits: configuration.limits,
            leniency: configuration.leniency,
            recordsLocalAddress: configuration.recordsLocalAddress
        )
        readings = ReadingShelf(configuration)
        localAddresses = LocalAddresses(configuration.localAddresses)
        home = ExchangeHome(loop, Timeouts.Spans(configuration.timeouts))
        idleLimit = max(0, configuration.idleTimeout.wholeNanoseconds)
        maximumAge = max(0, configuration.maximumAge.wholeNanoseconds)
        maximumAgeSpread = max(0, configuration.maximumAgeSpread.wholeNanoseconds)
        unsafe decoded = .allocate(capacity: CodingDecoder.bufferSize)
        unsafe joined = .allocate(capacity: JoinedChunks.capacity)
        unsafe home.owner = self
    }

    deinit {
        unsafe home.owner = nil
        unsafe decoded.deallocate()
        unsafe joined.deallocate()
    }

    // MARK: Exchanges

    /// Starts an exchange. Its outcome is reported once, and never before this call has returned.
    ///
    /// - Parameters:
    ///   - request: may be started any number of times, on any engine.
    ///   - delegate: kept until the exchange is over.
    ///   - priority: of the exchanges that wait for a connection to the same host, those with a higher priority are
    ///     served first.
    @discardableResult
    public func start(
        _ request: EngineRequest,
        delegate: any ExchangeDelegate,
        priority: UInt8 = Engine.usualPriority
    ) -> ExchangeID {
        start(request, delegate: delegate, priority: priority, keeper: nil)
    }

    /// Starts an exchange on a connection that its keeper has or, if it has none, on a new one, which becomes the
    /// keeper's.
    @discardableResult
    package func start(
        _ request: EngineRequest,
        delegate: any ExchangeDelegate,
        priority: UInt8 = Engine.usualPriority,
        keeper: ConnectionKeeper?
    ) -> ExchangeID {
        let exchange = freeExchanges.popLast().map { exchanges[Int($0)] } ?? growExchanges()
        exchange.begin(request, delegate, keeper, request.spans ?? home.spans, at: loop.now)
        guard case .open = life else {
            failLater(exchange, .shutDown)
            return exchange.id
        }
        // A delegate that is told of sent bytes may start another exchange in that call.
        let isNested = isStarting
        isStarting = true
        defer { isStarting = isNested }
        let id = exchange.id
        if let connection = takeWarm(for: request, keeper) {
            assign(connection, to: exchange)
            return id
        }
        if let keeper, let connection = takeKept(by: keeper, for: request) {
            assign(connection, to: exchange)
            return id
        }
        let host = host(for: request.destination)
        if let connection = takeIdle(host, for: request) {
            assign(connection, to: exchange)
        } else {
            enqueue(exchange, host, priority)
        }
        return id
    }

    /// The priority of an exchange that names none: the middle of 0...255.
    public static let usualPriority: UInt8 = WaitQueue.usual

    /// Ends an exchange with `.cancelled`, in any state. An id whose outcome was reported is ignored.
    public func cancel(_ id: ExchangeID) {
        if let exchange = exchange(id) { fail(exchange, .cancelled) }
    }

    /// Stops the delivery of a response. The socket is no longer read, so the peer soon has to wait. The idle timeout
    /// stops.
    public func pause(_ id: ExchangeID) {
        guard let exchange = exchange(id), !exchange.isPaused else { return }
        exchange.pause()
        if let connection = connection(of: exchange) {
            connection.link.updateInterest(reading: false, writing: connection.link.awaitsRoom)
        }
    }

    /// Continues a delivery that ``pause(_:)`` stopped, from the next turn of the loop on.
    public func resume(_ id: ExchangeID) {
        guard let exchange = exchange(id), exchange.isPaused else { return }
        exchange.resume(at: loop.now)
        connection(of: exchange)?.link.resumeReading(exchange.isReading)
        exchange.watch(at: loop.now)
    }

    /// Stops or continues the sending of a request. Bytes that the kernel already has are still sent. The idle timeout
    /// goes on, unless the response is paused too (``pause(_:)``).
    public func hold(requestOf id: ExchangeID, _ isHeld: Bool) {
        guard let exchange = exchange(id), exchange.isSendingHeld != isHeld else { return }
        exchange.hold(isHeld)
        guard let connection = connection(of: exchange) else { return }
        if isHeld {
            connection.link.updateInterest(reading: exchange.isReading, writing: false)
        } else {
            loop.reschedule(connection.link.token)
        }
    }

    /// Notes that a streamed body whose last part was `.later` now has more.
    public func bodyReady(_ id: ExchangeID) {
        guard let exchange = exchange(id), let connection = connection(of: exchange) else { return }
        // This is done in the next turn: the source may call this within the call that asks it for a part.
        loop.reschedule(connection.link.token)
    }

    func exchange(_ id: ExchangeID) -> Exchange? {
        guard id.slot < exchanges.count, exchanges[Int(id.slot)].generation == id.generation else { return nil }
        return exchanges[Int(id.slot)]
    }

    /// Returns the connection that carries the exchange; nil if none does.
    func connection(of exchange: Exchange) -> Connection? {
        if case .running(let id) = exchange.phase { connections[id] } else { nil }
    }

    func giveBack(_ exchange: Exchange) {
        endRest(of: exchange)
        exchange.end()
        freeExchanges.append(exchange.slot)
    }

    /// Calls the delegate of an exchange that has been given back. The engine does not end before that has returned.
    @inline(__always)
    func tell(_ call: () -> Void) {
        untold += 1
        call()
        untold -= 1
    }

    private func growExchanges() -> Exchange {
        let exchange = Exchange(home, slot: UInt32(exchanges.count))
        exchanges.append(exchange)
        return exchange
    }

    func failLater(_ exchange: Exchange, _ error: EngineError) {
        if overdue.isEmpty { handle.post { $0.failOverdue() } }
        overdue.append((exchange.id, error))
    }

    private func failOverdue() {
        let due = overdue
        overdue = []
        for (id, error) in due {
            if let exchange = exchange(id) { fail(exchange, error) }
        }
    }

    // MARK: State, for users and tests

    @inline(__always)
    func observe(_ event: @autoclosure () -> EngineEvent) {
        if let observing { observing.engine(self, didObserve: event()) }
    }

    /// The connections and waiters of all hosts at this moment.
    public var statistics: EngineStatistics {
        var result = EngineStatistics()
        for host in hosts.all {
            result.dialling += host.pool.dialling
            result.busy += host.pool.busy
            result.idle += host.pool.idleCount
            result.waiting += host.pool.waiting
        }
        return result
    }

    /// Whether an idle connection exists in any pool. Cheaper than ``statistics``, so it can be read before every
    /// request. Read while an outcome is reported, it counts the connection that has just come free.
    public var hasFreeConnection: Bool { warm != nil || hosts.hasIdle }

    /// Calls `call` with each connection that is opened for exchanges, once, on the loop. It costs less than an
    /// observer, which learns of each exchange too.
    package func whenOpened(_ call: @escaping (ConnectionRecord) -> Void) { didOpen = call }

    /// Set by ``whenOpened(_:)``.
    private(set) var didOpen: ((ConnectionRecord) -> Void)?

    /// Counts an idle connection on which bytes have come that no request had asked for.
    func noteStray() { strayConnections += 1 }

    /// A reference that other threads may use.
    public var handle: EngineHandle { EngineHandle(self) }

    // MARK: Shutting down

    /// Takes no more exchanges, closes idle connections, lets running exchanges end until `limit`, then fails those
    /// that are left with `.shutDown`. `then` is called once, on the loop, when nothing is left. If it is called again,
    /// the earliest limit applies.
    public func shutdown(within limit: Duration = .zero, then: @escaping () -> Void = {}) {
        var (limits, waiting): ([TimerID], [() -> Void]) = ([], [then])
        switch life {
        case .open: break
        case .draining(let earlier, let others): (limits, waiting) = (earlier, others + waiting)
        case .ended: return then()
        }
        if limit > .zero { limits.append(loop.arm(at: loop.now.advanced(by: limit), ShutdownTimer(self))) }
        life = .draining(limits: limits, then: waiting)
        for connection in connections.all {
            closeIdle(connection, .shutDown)
        }
        if limit <= .zero { abortEverything() }
        endIfDrained()
    }

    /// Closes idle connections now, and busy ones after their exchanges: exchanges that start from here on get new
    /// ones. Connections under way are begun anew for those that wait for them.
    ///
    /// - Parameter isMeant: whether the connections to this origin, by this proxy, made under the answers of this
    ///   evaluator of a request's own, are closed; by default all are.
    package func retireConnections(where isMeant: (Origin, Proxy?, (any TrustEvaluator)?) -> Bool = { _, _, _ in true })
    {
        func concerns(_ host: Host) -> Bool {
            isMeant(host.destination.origin, host.route.proxy, host.destination.evaluator)
        }
        for connection in connections.all where concerns(connection.host) {
            connection.markRetired()
            closeIdle(connection, .used)
        }
        for dial in dials.all where concerns(dial.host) {
            if case .pool = dial.purpose { dialUnjudged(dial) } else { dial.isRetired = true }
        }
    }

    /// The connection that carries the exchange, or carried it last; nil if there was none, or it is over.
    package func connectionRecord(of id: ExchangeID) -> ConnectionRecord? { exchange(id)?.report.connection }

    fileprivate func abortEverything() {
        for exchange in exchanges {
            if case .free = exchange.phase { continue }
            fail(exchange, .shutDown)
        }
        for dial in dials.all { abandon(dial) }
        abandonProbes()
        endIfDrained()
    }

    var isDraining: Bool {
        if case .open = life { false } else { true }
    }

    func endIfDrained() {
        guard case .draining(let limits, let waiting) = life else { return }
        guard connections.count == 0, dials.isEmpty, probes.isEmpty, untold == 0 else { return }
        guard exchanges.count == freeExchanges.count else { return }
        life = .ended
        for timer in limits { loop.cancel(timer) }
        for exchange in exchanges { exchange.disarm() }
        descriptorLine.disarm(on: loop)
        stopLending()
        hosts = HostTable()
        starved = StarvedHosts()
        for then in waiting { then() }
    }
}

extension Engine: BudgetMember {}

extension Engine: ExchangeOwner {
    func timerFired(of exchange: Exchange) {
        connection(of: exchange)?.timerFired(of: exchange)
        switch exchange.verdict(at: loop.now) {
        case .passed(let phase): fail(exchange, .timedOut(phase))
        case .next(let instant): exchange.arm(instant)
        }
    }
}

/// Connections and waiters at one moment.
public struct EngineStatistics: Hashable, Sendable {
    /// Connections that are being opened.
    public var dialling = 0
    /// Connections that carry an exchange.
    public var busy = 0
    /// Connections that wait for an exchange.
    public var idle = 0
    /// Exchanges without a connection.
    public var waiting = 0

    /// All counts zero.
    public init() {}
}

private final class ShutdownTimer: TimerHandler {
    let engine: Engine
    init(_ engine: Engine) { self.engine = engine }
    func timerFired(_ id: TimerID) { engine.abortEverything() }
}
