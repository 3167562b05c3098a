internal import HTTP1
public import Reactor
internal import TLS

/// Sends requests and tells delegates what comes back: connections, pool, deadlines, retries. Knows nothing of
/// cookies, redirects, caches or Foundation.
///
/// An engine lives on one loop, and everything here but ``handle`` is called on it. Dropped without
/// ``shutdown(within:then:)`` it stays until its exchanges and idle connections have ended by themselves. A loop that
/// ends before tells them nothing: shut the engine down first.
@safe public final class Engine {
    public let loop: EventLoop
    public let configuration: EngineConfiguration
    /// Hears what goes on; nil by default. It may be changed at any time, on the loop.
    public var observer: (any EngineObserver)?
    let resolver: Resolver
    /// The configuration's limits, in the clock's unit.
    let spans: Timeouts.Spans
    let maximumAge: Int64
    let maximumAgeSpread: Int64
    let idleLimit: Int64
    /// Storage for the head being parsed; one for all connections, as the loop parses one at a time.
    var head = ResponseHead()
    /// Where content is decoded to.
    let decoded: UnsafeMutableBufferPointer<UInt8>

    var hosts: [Destination: Host] = [:]
    /// The one asked for last: most users talk to one host many times.
    var lastHost: Host?
    var connections = SlotTable<Connection>()
    var dials: [ObjectIdentifier: Dial] = [:]
    var starved: [Host] = []
    /// Dials that found no descriptor, the eldest first, and when they try again.
    var descriptorLine: [Dial] = []
    var descriptorTimer: TimerID?
    /// The connection whose exchange is just being told to have ended: one started meanwhile goes on with it.
    var warm: Connection?
    /// Outcomes whose exchange has been given back already, but whose delegate's turn is yet to come.
    var untold = 0
    var spareDecoders = DecoderShelf()
    var readings: ReadingShelf
    var nextLocalAddress = 0
    var authenticators = ProxyAuthenticators()
    var connectionsOpened = 0
    /// Connections that were at rest, and closed because bytes came that no request had asked for.
    public internal(set) var strayConnections = 0
    var closingServers = ClosingServers()
    /// What TLS works with; nothing in an engine that never speaks it. The second is for TLS inside of TLS.
    var layerBuffers: [TLSBuffers] = []
    var trustWaiters: [ObjectIdentifier: [() -> Void]] = [:]
    var trustQuestions = CertificateQuestions<TrustVerdict>()
    var identityQuestions = CertificateQuestions<IdentityAnswer>()
    /// For what may wait for disks.
    let blocking: BlockingPool
    var probes: [ObjectIdentifier: Probe] = [:]
    /// A probe is just being started: its failure is told later.
    var isProbing = false
    private var exchanges: [Exchange] = []
    private var freeExchanges: [UInt32] = []
    /// Failures found while ``start(_:delegate:)`` was still running, to be told once it has returned.
    private var overdue: [(ExchangeID, EngineError)] = []
    private(set) var isStarting = false
    private var life = Life.open

    private enum Life {
        case open
        case draining(limits: [TimerID], then: [() -> Void])
        case ended
    }

    /// - Parameters:
    ///   - resolver: shared by engines that should share look-ups; one of its own otherwise.
    ///   - blocking: threads for files and the like; its own otherwise. They start when there is work.
    public init(
        on loop: EventLoop,
        configuration: EngineConfiguration = EngineConfiguration(),
        resolver: Resolver? = nil,
        blocking: BlockingPool? = nil
    ) {
        self.loop = loop
        self.blocking = blocking ?? BlockingPool(name: "engine-io")
        self.configuration = configuration
        self.resolver = resolver ?? Resolver()
        readings = ReadingShelf(configuration)
        spans = Timeouts.Spans(configuration.timeouts)
        idleLimit = configuration.idleTimeout.wholeNanoseconds
        maximumAge = configuration.maximumAge.wholeNanoseconds
        maximumAgeSpread = max(0, configuration.maximumAgeSpread.wholeNanoseconds)
        unsafe decoded = .allocate(capacity: ContentDecoder.bufferSize)
    }

    deinit { unsafe decoded.deallocate() }

    // MARK: Exchanges

    /// Starts an exchange; its outcome comes once, never before this call has returned.
    ///
    /// - Parameter priority: among those that wait for a connection to the same host, who has more comes first.
    @discardableResult
    public func start(
        _ request: EngineRequest,
        delegate: any ExchangeDelegate,
        priority: UInt8 = Engine.usualPriority
    ) -> ExchangeID {
        let exchange = freeExchanges.popLast().map { exchanges[Int($0)] } ?? growExchanges()
        exchange.begin(request, delegate, request.spans ?? spans, at: loop.now)
        guard case .open = life else {
            exchange.phase = .starting
            failLater(exchange, .shutDown)
            return exchange.id
        }
        // A delegate told of bytes sent may start another from within.
        let isNested = isStarting
        isStarting = true
        defer { isStarting = isNested }
        let id = exchange.id
        if let connection = takeWarm(for: request) {
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

    /// In the middle of what there is.
    public static let usualPriority: UInt8 = 128

    /// Ends an exchange with `.cancelled`, in whatever state; an id whose outcome has come is ignored.
    public func cancel(_ id: ExchangeID) {
        if let exchange = exchange(id) { fail(exchange, .cancelled) }
    }

    /// Stops delivery, and soon the peer: its socket is no longer read. The idle timeout stands still meanwhile.
    public func pause(_ id: ExchangeID) {
        guard let exchange = exchange(id), !exchange.isPaused else { return }
        exchange.isPaused = true
        if case .running(let connection) = exchange.phase {
            connection.updateInterest(reading: false, writing: connection.awaitsRoom)
        }
    }

    /// Goes on where ``pause(_:)`` stopped, from the next turn on.
    public func resume(_ id: ExchangeID) {
        guard let exchange = exchange(id), exchange.isPaused else { return }
        exchange.isPaused = false
        exchange.lastActivity = loop.now
        if case .running(let connection) = exchange.phase { connection.resumeReading(exchange.isReading) }
        exchange.watch(at: loop.now)
    }

    /// Nothing more of the request leaves while it is held, but for what the kernel has already. The idle timeout stands still only for
    /// an answer that is paused (``pause(_:)``), too.
    public func hold(requestOf id: ExchangeID, _ isHeld: Bool) {
        guard let exchange = exchange(id), exchange.isSendingHeld != isHeld else { return }
        exchange.isSendingHeld = isHeld
        guard case .running(let connection) = exchange.phase else { return }
        if isHeld {
            connection.updateInterest(reading: exchange.isReading, writing: false)
        } else {
            loop.reschedule(connection.token)
        }
    }

    /// A streamed body that answered `.later` has more now.
    public func bodyReady(_ id: ExchangeID) {
        guard let exchange = exchange(id), case .running(let connection) = exchange.phase else { return }
        // Next turn: the source may say so from within the very call that asks it.
        loop.reschedule(connection.token)
    }

    func exchange(_ id: ExchangeID) -> Exchange? {
        guard id.slot < exchanges.count, exchanges[Int(id.slot)].generation == id.generation else { return nil }
        return exchanges[Int(id.slot)]
    }

    func giveBack(_ exchange: Exchange) {
        exchange.end()
        freeExchanges.append(exchange.slot)
    }

    private func growExchanges() -> Exchange {
        let exchange = Exchange(engine: self, slot: UInt32(exchanges.count))
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
        if let observer { observer.engine(self, didObserve: event()) }
    }

    public var statistics: EngineStatistics {
        var result = EngineStatistics()
        for host in hosts.values {
            result.dialling += host.pool.dialling
            result.busy += host.pool.busy
            result.idle += host.pool.idleCount
            result.waiting += host.pool.waiting
        }
        return result
    }

    /// A connection is free, be it not for every request: ``statistics`` in short, for who asks before each request. In an outcome, the
    /// connection that has just come free counts.
    public var hasFreeConnection: Bool {
        if warm != nil || lastHost.map({ $0.pool.idleCount > 0 }) == true { return true }
        return hosts.values.contains { $0.pool.idleCount > 0 }
    }

    /// For other threads.
    public var handle: EngineHandle { EngineHandle(self) }

    // MARK: Shutting down

    /// Takes no more exchanges, closes idle connections, lets running exchanges end until `limit`, then fails
    /// what is left with `.shutDown`. `then` is called once, on the loop, when nothing is left. Called again, the
    /// nearest limit counts.
    public func shutdown(within limit: Duration = .zero, then: @escaping () -> Void = {}) {
        var (limits, waiting): ([TimerID], [() -> Void]) = ([], [then])
        switch life {
        case .open: break
        case .draining(let earlier, let others): (limits, waiting) = (earlier, others + waiting)
        case .ended: return then()
        }
        if limit > .zero { limits.append(loop.arm(at: loop.now.advanced(by: limit), ShutdownTimer(self))) }
        life = .draining(limits: limits, then: waiting)
        for connection in connections.entries {
            if case .idle = connection.state { closeIdle(connection, .shutDown) }
        }
        if limit <= .zero { abortEverything() }
        endIfDrained()
    }

    fileprivate func abortEverything() {
        for exchange in exchanges {
            if case .free = exchange.phase { continue }
            fail(exchange, .shutDown)
        }
        for dial in dials.values { abandon(dial) }
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
        if let descriptorTimer { loop.cancel(descriptorTimer) }
        descriptorTimer = nil
        hosts = [:]
        lastHost = nil
        starved = []
        for then in waiting { then() }
    }
}

/// Connections and waiters at one moment.
public struct EngineStatistics: Hashable, Sendable {
    public var dialling = 0
    public var busy = 0
    public var idle = 0
    /// Exchanges without a connection.
    public var waiting = 0

    public init() {}
}

private final class ShutdownTimer: TimerHandler {
    let engine: Engine
    init(_ engine: Engine) { self.engine = engine }
    func timerFired(_ id: TimerID) { engine.abortEverything() }
}
