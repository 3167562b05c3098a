internal import UncurlHTTP1
public import UncurlReactor
package import UncurlSemantics
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
    /// Hears of events between exchanges and the network, for logs, meters and metrics; nil by default. It may be
    /// changed at any time, on the loop. It is called on the loop, which must not be blocked, at the event's time by
    /// the loop's clock, and must not call the engine back.
    public var observer: ((EngineEvent) -> Void)? {
        get { observing }
        set { observing = newValue }
    }
    /// A public stored property would cost a dynamic check for exclusive access with each event.
    private var observing: ((EngineEvent) -> Void)?
    let resolver: Resolver
    let security: EngineSecurity
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
    var dials: [ObjectIdentifier: Dial] = [:]
    var probes: [ObjectIdentifier: Probe] = [:]
    /// The dials that wait for a descriptor, the oldest first, and the timer of their next attempt.
    var descriptorLine: [Dial] = []
    var descriptorTimer: TimerID?
    /// The connection whose exchange has just ended, while its delegate is told so: an exchange that is started in that
    /// call takes it.
    var warm: Connection?
    /// The exchanges that have been given back, and whose delegates have not been called yet.
    private var untold = 0
    /// How many exchanges and dials wait for the program, and how many of them have lent their places.
    var resting = 0
    var lent = 0
    /// Armed while one that waits for the program may have to lend its place.
    var lendingTimer: TimerID?
    /// Decoders that are kept for the next response in the same coding, the oldest first: zlib's window alone is
    /// 32 KiB.
    private var spareDecoders: [CodingDecoder] = []
    /// How many parallel responses in one coding need no new decoder.
    private static let mostSpareDecoders = 8
    var readings: ReadingShelf
    private var localAddressIndex = 0
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
        self.resolver = resolver ?? Resolver()
        security = EngineSecurity(on: loop, configuration, blocking ?? BlockingPool(name: "engine-io"))
        readings = ReadingShelf(configuration)
        home = ExchangeHome(loop, Deadlines(configuration.timeouts))
        idleLimit = max(0, configuration.idleTimeout.wholeNanoseconds)
        maximumAge = max(0, configuration.maximumAge.wholeNanoseconds)
        maximumAgeSpread = max(0, configuration.maximumAgeSpread.wholeNanoseconds)
        unsafe decoded = .allocate(capacity: CodingDecoder.bufferSize)
        unsafe joined = .allocate(capacity: Connection.joinedCapacity)
        home.timerFired = { [unowned(unsafe) self] exchange in unsafe timerFired(of: exchange) }
    }

    deinit {
        home.timerFired = nil
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
        exchange.begin(request, delegate, keeper, request.deadlines ?? home.deadlines, at: loop.now)
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

    func connection(of exchange: Exchange) -> Connection? {
        if case .running(let id) = exchange.phase { connections[id] } else { nil }
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
        if let observing { observing(event()) }
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
        if limit > .zero {
            limits.append(loop.arm(at: loop.now.advanced(by: limit), TimerCall { [self] in abortEverything() }))
        }
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
            connection.isRetired = true
            closeIdle(connection, .used)
        }
        for dial in dials.values where concerns(dial.host) {
            if case .pool = dial.purpose { dialUnjudged(dial) } else { dial.isRetired = true }
        }
    }

    /// The connection that carries the exchange, or carried it last; nil if there was none, or it is over.
    package func connectionRecord(of id: ExchangeID) -> ConnectionRecord? { exchange(id)?.report.connection }

    private func abortEverything() {
        for exchange in exchanges {
            if case .free = exchange.phase { continue }
            fail(exchange, .shutDown)
        }
        for dial in dials.values { abandon(dial) }
        for probe in probes.values { probe.abandon() }
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
        for timer in [descriptorTimer.take(), lendingTimer.take()] { if let timer { loop.cancel(timer) } }
        hosts = HostTable()
        for then in waiting { then() }
    }
}

extension Engine {
    /// Handles an exchange's timer: a limit may have passed, or what it waits for may be due.
    private func timerFired(of exchange: Exchange) {
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

/// A timer that runs a closure.
package final class TimerCall: TimerHandler {
    private let ring: () -> Void

    package init(_ ring: @escaping () -> Void) { self.ring = ring }

    package func timerFired(_ id: TimerID) { ring() }
}

/// Decides which exchange gets which connection, and which connection is closed to make room.
extension Engine {
    func host(for destination: Destination) -> Host {
        hosts.recent(destination) ?? hosts.find(destination) { makeHost(destination) }
    }

    func makeHost(_ destination: Destination) -> Host {
        let route = Route(to: destination, configuration.proxies)
        return Host(destination, route, limit: configuration.connectionsPerHost)
    }

    /// Returns the connection that has just come free. It skips the pool and counts as busy all the time.
    func takeWarm(for request: EngineRequest, _ keeper: ConnectionKeeper?) -> Connection? {
        guard let connection = warm, connection.keeper === keeper,
            connection.host.destination == request.destination
        else { return nil }
        warm = nil
        let isTrusted = mayCarry(request, connection)
        if isTrusted, connection.isJustDrained || connection.isQuiet { return connection }
        noteNews(of: connection)
        retire(connection, isTrusted ? .peer : .used, abruptly: false)
        return nil
    }

    /// Returns the idle connection that was used last and is still usable.
    func takeIdle(_ host: Host, for request: EngineRequest) -> Connection? {
        while let id = host.pool.takeIdle() {
            guard let connection = connections[id] else {
                host.pool.discardBusy()
                continue
            }
            if isUsable(connection, for: request) { return connection }
        }
        return nil
    }

    /// Returns the connection to the request's destination that the keeper has, if it is still usable.
    func takeKept(by keeper: ConnectionKeeper, for request: EngineRequest) -> Connection? {
        for index in keeper.resting.indices.reversed() {
            guard let connection = connections[keeper.resting[index]], connection.isIdle else {
                keeper.resting.remove(at: index)
                continue
            }
            guard connection.host.destination == request.destination else { continue }
            keeper.resting.remove(at: index)
            if isUsable(connection, for: request) { return connection }
        }
        return nil
    }

    /// Lets the connection rest until its keeper's next exchange. Its place in the pool stays taken.
    func keep(_ connection: Connection, by keeper: ConnectionKeeper) {
        keeper.resting.append(connection.id)
        park(connection)
    }

    /// Closes the connections that rest. The keeper may be used again.
    package func closeConnections(of keeper: ConnectionKeeper) {
        let ids = keeper.resting
        keeper.resting = []
        for id in ids { if let connection = connections[id] { closeIdle(connection, .used) } }
    }

    /// Whether an idle connection that has been taken, and counts as busy, can carry the request. If not, it is closed.
    func isUsable(_ connection: Connection, for request: EngineRequest) -> Bool {
        let isTrusted = mayCarry(request, connection)
        if isTrusted, connection.isAlive { return true }
        noteNews(of: connection)
        connection.host.pool.discardBusy()
        forget(connection)
        connection.close(isTrusted ? .peer : .used, abruptly: false)
        return false
    }

    /// Whether `request` can be sent on this connection. False if the connection is retired, and if the request could
    /// be lost without a way to tell: the server may be closing the connection, and the request may be sent only once.
    func mayCarry(_ request: EngineRequest, _ connection: Connection) -> Bool {
        if connection.isRetired { return false }
        if request.isIdempotent, request.isReplayable { return true }
        let destination = connection.host.destination
        return !closingServers.mayClose(destination, answered: connection.answered, now: loop.now)
    }

    /// Notes what came on an idle connection: an answer to no request, or the server's end. It must be called before
    /// the connection is given up.
    func noteNews(of connection: Connection) {
        if connection.holdsStrayBytes {
            noteStray()
        } else if !connection.isQuiet {
            noteClose(of: connection)
        }
    }

    /// - Parameter now: when the close showed; nil for now.
    func noteClose(of connection: Connection, at now: Instant? = nil) {
        guard configuration.foreseesCloses else { return }
        closingServers.note(connection.host.destination, answered: connection.answered, now: now ?? loop.now)
    }

    func enqueue(_ exchange: Exchange, _ host: Host, _ priority: UInt8) {
        let (ticket, step) = host.pool.wait(exchange.id, priority: priority)
        exchange.wait(for: host, ticket, since: loop.now)
        observe(.waiting(exchange.id, host.destination.origin))
        exchange.watch(at: loop.now)
        perform(step, host)
        watchPlaces(at: host)
    }

    func assign(_ connection: Connection, to exchange: Exchange) {
        connection.lease(to: exchange)
        exchange.run(on: connection.id, connection.record, isReused: connection.isReused, at: loop.now)
        observe(.leased(exchange.id, connection: connection.number, reused: connection.isReused))
        connection.send(exchange)
        guard connection.isServing(exchange) else { return }
        exchange.watch(at: loop.now)
        watchPlaces(at: connection.host)
    }

    func perform(_ step: ConnectionPool.Step, _ host: Host) {
        switch step {
        case .assign(let connection, let exchange):
            guard let connection = connections[connection], let exchange = self.exchange(exchange) else { return }
            assign(connection, to: exchange)
        case .dial:
            startDial(host, .pool)
        case .park(let id):
            guard let connection = connections[id] else { return }
            // Its own waiters have been served.
            hosts.noLongerStarved(host)
            park(connection)
        case .nothing:
            break
        }
    }

    /// Lets a connection rest, or closes it if others need its place.
    func park(_ connection: Connection) {
        connection.park()
        if isDraining { return closeIdle(connection, .shutDown) }
        let isExcess = connection.host.pool.isOverfull || configuration.budget?.isExceeded == true
        if isExcess || hosts.hasStarved || !descriptorLine.isEmpty { closeIdle(connection, .room) }
    }

    func decoder(for encoding: String, _ limits: DecodingLimits) throws(ContentDecodingError) -> CodingDecoder? {
        guard let index = spareDecoders.lastIndex(where: { $0.encoding == encoding && $0.limits == limits }) else {
            return try CodingDecoder.make(for: encoding, limits: limits)
        }
        let decoder = spareDecoders.remove(at: index)
        decoder.reset()
        return decoder
    }

    private func keep(_ decoder: CodingDecoder) {
        // The oldest is dropped: a coding that a server invented once must not stay for ever.
        if spareDecoders.count == Engine.mostSpareDecoders { spareDecoders.removeFirst() }
        spareDecoders.append(decoder)
    }

    /// Removes a connection from the engine's table: it is about to be closed, or becomes another protocol's.
    func forget(_ connection: Connection) {
        connections.remove(connection.id)
        configuration.budget?.closed(by: ObjectIdentifier(self), open: connections.count)
    }

    /// Gives up an idle connection's place in its pool. A kept one counts as busy there.
    func leavePool(_ connection: Connection) {
        if connection.keeper == nil {
            connection.host.pool.closedIdle(connection.id)
        } else {
            connection.host.pool.discardBusy()
        }
    }

    /// Lets the dial that waits longest for a descriptor try again, and hosts dial that wait for a place, unless their
    /// waiters have left. Called when a place or a descriptor may have come free.
    func feedStarved() {
        feedDials()
        while hasRoom, let host = hosts.nextStarved() {
            perform(host.pool.dialIfNeeded(), host)
            // If it needs more places than this one, it waits for another turn.
            if host.pool.needsDial { hosts.starve(host) }
            hosts.tidy(host)
        }
    }

    /// Whether there is room within the limit on all connections. The limit is at least one, or exchanges would wait
    /// for ever.
    var hasRoom: Bool { connections.count + dials.count - lent < max(1, configuration.connections) }

    private var budgetMember: ConnectionBudget.Member {
        let bound = LoopBound(self, on: loop)
        return (ObjectIdentifier(self), loop, { bound.value.closeEldestIdle() })
    }

    /// Closes the connection that has been idle longest. Returns false if none is idle.
    func closeEldestIdle() -> Bool {
        let eldest =
            hosts.all
            .compactMap { host in host.pool.eldestIdle.flatMap { connections[$0] } }
            .min { $0.idleSince < $1.idleSince }
            ?? connections.all.filter { $0.isIdle && $0.keeper != nil }.min { $0.idleSince < $1.idleSince }
        guard let eldest else { return false }
        leavePool(eldest)
        forget(eldest)
        eldest.close(.room, abruptly: false)
        hosts.tidy(eldest.host)
        return true
    }
}

/// Opens connections for hosts that have waiters and room.
extension Engine {
    func startDial(_ host: Host, _ purpose: Dial.Purpose) {
        if case .pool = purpose, !hasRoom, !closeEldestIdle() {
            host.pool.dialAbandoned()
            return hosts.starve(host)
        }
        observe(.dialling(host.destination.origin))
        newDial(host, purpose).start(timeout: connectLimit(host, purpose))
    }

    func newDial(_ host: Host, _ purpose: Dial.Purpose) -> Dial {
        let dial = Dial(self, host, purpose)
        dials[ObjectIdentifier(dial)] = dial
        return dial
    }

    /// Returns the limit for a dial. The dial belongs to the pool; its limit is that of the exchange that it would
    /// serve if it were done now.
    private func connectLimit(_ host: Host, _ purpose: Dial.Purpose) -> Duration? {
        let id: ExchangeID?
        switch purpose {
        case .pool: id = host.pool.firstWaiter
        case .retry(let exchange): id = exchange
        case .stream(_, let limit): return limit
        // A probe brings its own limit.
        case .probe: id = nil
        }
        let request = id.flatMap { exchange($0) }?.request
        return (request?.options.timeouts ?? configuration.timeouts).connect
    }

    /// Takes over the connection of a dial, which is open.
    ///
    /// - Parameter unread: the first bytes of a server that speaks first. Empty unless the dial is for a stream.
    func dialled(_ dial: Dial, _ link: consuming Link, _ record: ConnectionRecord, unread: [UInt8]) {
        dials[ObjectIdentifier(dial)] = nil
        if case .probe(let probe, let limit) = dial.purpose {
            if let info = record.security { observe(.secured(dial.host.destination.origin, info)) }
            feedStarved()
            return part(probe, limit, link, record)
        }
        let connection = makeConnection(link, record, dial.host)
        if dial.isRetired { connection.isRetired = true }
        switch dial.purpose {
        case .probe:
            break
        case .stream(let asker, _):
            asker.ended(.success(giveAway(connection, unread: unread)))
        case .retry(let id):
            if let exchange = exchange(id) {
                dial.host.pool.redialled()
                assign(connection, to: exchange)
            } else {
                perform(dial.host.pool.redialUnclaimed(connection.id), dial.host)
            }
        case .pool:
            perform(dial.host.pool.dialled(connection.id), dial.host)
        }
        // A stream takes no place. This dial found a descriptor, so the next one may find one too.
        feedStarved()
        endIfDrained()
    }

    private func makeConnection(_ link: consuming Link, _ record: ConnectionRecord, _ host: Host) -> Connection {
        let id = connections.reserve()
        let connection = Connection(
            link,
            record: record,
            number: connections.opened,
            id: id,
            host: host,
            engine: self
        )
        connections.fill(id, with: connection)
        configuration.budget?.opened(by: budgetMember, open: connections.count)
        if let info = record.security { observe(.secured(host.destination.origin, info)) }
        observe(.opened(connection.number, host.destination.origin, record))
        didOpen?(record)
        return connection
    }

    func dialFailed(_ dial: Dial, _ error: EngineError) {
        dials[ObjectIdentifier(dial)] = nil
        let host = dial.host
        observe(.dialFailed(host.destination.origin, error))
        switch dial.purpose {
        case .pool:
            if let waiter = host.pool.dialFailed(), let exchange = exchange(waiter) { fail(exchange, error) }
        case .retry(let id):
            host.pool.redialEnded()
            if let exchange = exchange(id) { fail(exchange, error) }
        case .probe(let probe, _):
            feedStarved()
            return probe.failed(error)
        case .stream(let asker, _):
            feedStarved()
            asker.ended(.failure(error))
            return endIfDrained()
        }
        feedStarved()
        perform(host.pool.dialIfNeeded(), host)
        hosts.tidy(host)
        endIfDrained()
    }

    /// Returns the exchange that the connection would serve if the dial were done now; nil if none waits.
    func waiter(for dial: Dial) -> ExchangeID? {
        switch dial.purpose {
        case .pool: dial.host.pool.firstWaiter
        case .retry(let id): exchange(id) == nil ? nil : id
        case .probe, .stream: nil
        }
    }

    /// Ends a dial: its evaluator could ask no user about the peer. Dials again if exchanges wait.
    func dialUnjudged(_ dial: Dial) {
        abandon(dial)
        feedStarved()
        perform(dial.host.pool.dialIfNeeded(), dial.host)
        endIfDrained()
    }

    func abandon(_ dial: Dial) {
        dials[ObjectIdentifier(dial)] = nil
        leaveLine(dial)
        dial.cancel()
        switch dial.purpose {
        case .pool: dial.host.pool.dialAbandoned()
        case .retry: dial.host.pool.redialEnded()
        case .probe(let probe, _): return probe.abandon()
        case .stream(let asker, _): return asker.ended(.failure(.shutDown))
        }
        hosts.tidy(dial.host)
    }

    /// Returns how to connect to the first hop. It is called for each attempt, since local addresses take turns.
    func connectorOptions(to target: Connector.Target, for host: Host) -> Connector.Options {
        var options = Connector.Options()
        let asked = target.family == .unix ? nil : host.destination.localAddress
        options.localAddress = asked ?? nextLocalAddress(reaching: target.family)
        return options
    }

    /// Returns the next local address of the family, or the next one of all if the family is not known before the
    /// look-up. If none has the family, it returns one with which the dial fails, since only these addresses may be
    /// used. Nil for the system's choice.
    private func nextLocalAddress(reaching family: SocketAddress.Family?) -> SocketAddress? {
        let candidates = configuration.localAddresses
        guard !candidates.isEmpty, family != .unix else { return nil }
        for _ in candidates {
            let candidate = candidates[localAddressIndex]
            localAddressIndex = (localAddressIndex + 1) % candidates.count
            if family == nil || candidate.family == family { return candidate }
        }
        return candidates[localAddressIndex]
    }
}

/// How exchanges end, and what becomes of their connections.
extension Engine {
    func complete(_ exchange: Exchange, on connection: Connection, trailers: HTTPFields?, surplus: Bool) {
        // This comes first, since a socket on which it fails is not used again.
        connection.endGathering()
        endRest(of: exchange)
        // While other hosts wait for any place, a connection is closed after each exchange: hosts take turns.
        let isExcess = hosts.hasStarved(besides: connection.host) || connection.host.pool.isOverfull
        var reusable =
            !surplus && !isDraining && !connection.isRetired && !isExcess && connection.isReusable(after: exchange)
        // A connection that is handed on at once is checked here; others are checked when they are leased.
        if reusable, connection.host.pool.waiting > 0 { reusable = connection.isJustDrained || connection.isQuiet }
        let isCutOff = !reusable && exchange.request?.closes == false && connection.isFinishedUnannounced
        connection.endReading()
        if isCutOff { noteClose(of: connection) }
        if reusable, !closingServers.isEmpty,
            let next = connection.host.pool.firstWaiter.flatMap({ self.exchange($0)?.request })
        {
            reusable = mayCarry(next, connection)
        }
        if let decoder = exchange.decoder { keep(decoder) }
        let farewell = leave(exchange, nil)
        if reusable, connection.keeper != nil || connection.host.pool.waiting == 0 {
            warm = connection
            farewell.deliver(.completed(trailers: trailers))
            guard let left = warm else { return }
            warm = nil
            if let keeper = left.keeper {
                keep(left, by: keeper)
            } else {
                perform(left.host.pool.released(left.id), left.host)
            }
        } else {
            tell {
                if reusable {
                    perform(connection.host.pool.released(connection.id), connection.host)
                } else {
                    // A request that was not sent to its end must not look complete to the server.
                    retire(connection, .used, abruptly: farewell.unsent || configuration.closesAbruptly)
                }
                farewell.deliver(.completed(trailers: trailers))
            }
        }
        endIfDrained()
    }

    /// Ends an exchange, and HTTP on its connection: the pool's place comes free, and the delegate gets the upgraded
    /// connection.
    func handOver(_ connection: Connection, of exchange: Exchange, unread: [UInt8]) {
        let upgraded = giveAway(connection, unread: unread)
        let farewell = leave(exchange, nil)
        tell {
            feedStarved()
            perform(connection.host.pool.closedBusy(), connection.host)
            hosts.tidy(connection.host)
            farewell.delegate?.exchange(farewell.id, didUpgrade: upgraded)
            farewell.deliver(.completed(trailers: nil))
        }
        endIfDrained()
    }

    /// Ends one response of a pipeline that others follow. Returns false if the delegate has ended the exchange.
    func continuePipeline(
        _ exchange: Exchange,
        on connection: Connection,
        trailers: HTTPFields?,
        surplus: Int
    ) -> Bool {
        guard let request = exchange.request, let reading = connection.reading else { return false }
        let persists = reading.parser.persistence == .keepAlive
        reading.parser.begin(answering: request.context)
        exchange.report.bytesReceived -= min(UInt64(surplus), exchange.report.bytesReceived)
        exchange.delegate?.exchange(exchange.id, didFinish: .completed(trailers: trailers), report: exchange.report)
        guard connection.isServing(exchange) else { return false }
        exchange.nextOfPipeline(received: surplus, at: loop.now)
        guard persists else {
            exchange.report.closeAnnounced = true
            fail(exchange, .closedBeforeResponse(nil))
            return false
        }
        return true
    }

    func fail(_ exchange: Exchange, _ error: EngineError) {
        if isStarting {
            detach(exchange, error)
            return failLater(exchange, error)
        }
        switch exchange.phase {
        case .free:
            return
        case .starting:
            conclude(exchange, error)
        case .waiting(let host, let ticket, _):
            if let ticket { host.pool.leave(ticket) }
            conclude(exchange, error)
            hosts.tidy(host)
        case .running(let id):
            guard let connection = connections[id] else { return conclude(exchange, error) }
            let facts = retryFacts(exchange, on: connection, error)
            if facts.meetsClosedConnection {
                noteClose(of: connection, at: exchange.report.timings.leased)
            }
            if configuration.resendsRequests, facts.allowsRetry, !isDraining {
                return retry(exchange, instead: connection, .failed(error))
            }
            let farewell = leave(exchange, error)
            retire(connection, .failed(error), abruptly: true)
            farewell.deliver(.failed(error))
        }
        endIfDrained()
    }

    /// Takes an exchange off its connection or out of the queue. Its delegate is called once more, with the outcome.
    private func detach(_ exchange: Exchange, _ error: EngineError) {
        switch exchange.phase {
        case .free, .starting:
            return
        case .waiting(let host, let ticket, _):
            if let ticket { host.pool.leave(ticket) }
            hosts.tidy(host)
        case .running(let id):
            endRest(of: exchange)
            if let connection = connections[id] { retire(connection, .failed(error), abruptly: true) }
        }
        exchange.detach()
    }

    private func conclude(_ exchange: Exchange, _ error: EngineError) {
        leave(exchange, error).deliver(.failed(error))
    }

    /// Gives an exchange back. Its delegate is told later, by what is returned.
    private func leave(_ exchange: Exchange, _ error: EngineError?) -> Farewell {
        let farewell = exchange.takeFarewell()
        observe(.ended(exchange.id, error))
        endRest(of: exchange)
        exchange.end()
        freeExchanges.append(exchange.slot)
        return farewell
    }

    private func retryFacts(
        _ exchange: Exchange,
        on connection: Connection,
        _ error: EngineError
    ) -> RetryRule {
        var (peerClosed, unreceived) = (false, false)
        switch error {
        case .closedBeforeResponse(let cause), .uploadAborted(_, let cause):
            peerClosed = cause?.isPeerClosure ?? true
            unreceived = connection.wasClosedBeforeRequest(exchange, cause)
        default: break
        }
        // The server has acted on a pipeline once one answer has come, whatever became of the rest.
        let begun = exchange.request.map { exchange.expected < $0.pipelineDepth } ?? false
        return RetryRule(
            reusedConnection: exchange.report.reusedConnection,
            responseStarted: begun || exchange.report.timings.responseStart != nil,
            peerClosed: peerClosed,
            sent: exchange.report.bytesSent > 0 || connection.link.hasUncountedBytes,
            unreceived: unreceived,
            idempotent: exchange.request?.isIdempotent ?? false,
            replayable: exchange.request?.isReplayable ?? false,
            alreadyRetried: exchange.report.retried
        )
    }

    /// Retries after a 417 (RFC 9110 §15.5.18), which concerns the expectation alone. Returns false if there was none,
    /// or the content is gone.
    func retryWithoutExpectation(_ exchange: Exchange, instead connection: Connection) -> Bool {
        guard let request = exchange.request, request.continueWait > 0, !exchange.expectationFailed, !isDraining else {
            return false
        }
        guard exchange.isRepeatable else { return false }
        exchange.dropExpectation()
        retry(exchange, instead: connection, .used)
        return true
    }

    func retry(_ exchange: Exchange, instead connection: Connection, _ reason: EngineEvent.Closing) {
        observe(.retrying(exchange.id))
        takePlaceBack(of: exchange)
        let host = connection.host
        forget(connection)
        connection.close(reason, abruptly: true)
        host.pool.redial()
        exchange.restart(waitingFor: host, at: loop.now)
        startDial(host, .retry(exchange.id))
    }

    func closeIdle(_ connection: Connection, _ reason: EngineEvent.Closing) {
        guard connection.isIdle else { return }
        if reason == .peer { noteNews(of: connection) }
        leavePool(connection)
        forget(connection)
        connection.close(reason, abruptly: false)
        hosts.tidy(connection.host)
        feedStarved()
        endIfDrained()
    }

    func retire(_ connection: Connection, _ reason: EngineEvent.Closing, abruptly: Bool) {
        forget(connection)
        connection.close(reason, abruptly: abruptly)
        feedStarved()
        perform(connection.host.pool.closedBusy(), connection.host)
        hosts.tidy(connection.host)
    }
}

/// An engine as other threads use it: by messages to its loop.
public struct EngineHandle: Sendable {
    private let engine: LoopBound<Engine>
    /// The engine's loop.
    public let loop: EventLoop

    init(_ engine: Engine) {
        loop = engine.loop
        self.engine = LoopBound(engine, on: engine.loop)
    }

    /// Runs `body` with the engine on its loop. Returns false if the loop has ended: then `body` will not run.
    @discardableResult
    public func post(_ body: @escaping @Sendable (Engine) -> Void) -> Bool {
        let engine = engine
        return loop.post { body(engine.value) }
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
