/// Which connection serves which exchange, for one destination: a plain struct that decides and touches no socket.
///
/// ```
///              lease                    dialled            released, reusable
///   waiter ──▶ idle? ─yes─▶ busy     dialling ─▶ busy ◀───────────── busy
///                └no─▶ queue (+ dial)     └▶ idle (queue empty)        └▶ idle (queue empty)
/// ```
/// - Idle connections are used last in, first out: the warmest first, and the tail runs into its idle limit.
/// - Waiters are served by priority, and first come, first served, by whichever connection comes free first, new or
///   used.
/// - A dial belongs to the pool, not to the waiter that caused it; there are never more dials than waiters
///   at the time one is started, and never more connections than `limit`.
struct ConnectionPool {
    /// What the owner has to do now.
    enum Step: Equatable {
        /// The waiter has this connection.
        case assign(ConnectionID, to: ExchangeID)
        /// Start one dial; report it with ``dialled(_:)`` or ``dialFailed()``.
        case dial
        /// The connection is parked.
        case park(ConnectionID)
        /// Nothing: the waiters have their dials, or there are none.
        case nothing
    }

    typealias Ticket = WaitQueue.Ticket

    let limit: Int

    /// Dials for the queue, and those of retries, each of which serves its own exchange.
    private var queueDials = 0
    private var retryDials = 0
    private(set) var busy = 0
    private var idle: [ConnectionID] = []
    private var queue = WaitQueue()

    init(limit: Int) { self.limit = max(1, limit) }

    /// Places in the queue's storage, those of leavers included.
    var queued: Int { queue.stored }
    var waiting: Int { queue.count }
    var idleCount: Int { idle.count }
    var dialling: Int { queueDials + retryDials }
    var total: Int { dialling + busy + idle.count }
    /// More dials are under way than waiters are left.
    var hasSurplusDials: Bool { queueDials > waiting }
    var isEmpty: Bool { total == 0 && waiting == 0 }

    /// The connection to try first. It counts as busy from here on; a dead one goes by ``discardBusy()``, and the
    /// owner asks again.
    mutating func takeIdle() -> ConnectionID? {
        guard let connection = idle.popLast() else { return nil }
        busy += 1
        return connection
    }

    /// Queues an exchange that found no idle connection.
    ///
    /// - Parameter priority: those with more are served first.
    mutating func wait(_ waiter: ExchangeID, priority: UInt8 = WaitQueue.usual) -> (Ticket, Step) {
        let ticket = queue.append(waiter, priority)
        return (ticket, dialIfNeeded())
    }

    /// The waiter gives up. A dial under way for it goes on and parks, for the next.
    mutating func leave(_ ticket: Ticket) { queue.leave(ticket) }

    mutating func dialled(_ connection: ConnectionID) -> Step {
        queueDials -= 1
        return place(connection)
    }

    /// The dial came to nothing. The first waiter hears of it: its connection would have been this one.
    mutating func dialFailed() -> ExchangeID? {
        queueDials -= 1
        return nextWaiter()
    }

    /// The owner gave the dial up; no waiter hears of it.
    mutating func dialAbandoned() { queueDials -= 1 }

    /// A busy connection has come free for the next exchange.
    mutating func released(_ connection: ConnectionID) -> Step {
        busy -= 1
        return place(connection)
    }

    /// A busy connection is gone; its place may serve a waiter.
    mutating func closedBusy() -> Step {
        busy -= 1
        return dialIfNeeded()
    }

    /// A connection just taken turned out dead.
    mutating func discardBusy() { busy -= 1 }

    /// A busy connection is gone and its exchange dials again, past the queue: its turn has come already.
    mutating func redial() {
        busy -= 1
        retryDials += 1
    }

    /// The dial of ``redial()`` has its connection.
    mutating func redialled() {
        retryDials -= 1
        busy += 1
    }

    /// The dial of ``redial()`` has its connection, whose exchange is gone.
    mutating func redialUnclaimed(_ connection: ConnectionID) -> Step {
        retryDials -= 1
        return place(connection)
    }

    /// The dial of ``redial()`` failed, or was given up.
    mutating func redialEnded() { retryDials -= 1 }

    mutating func closedIdle(_ connection: ConnectionID) {
        // From the end: what dies young was parked last; the eldest go by their idle limit, from the front.
        if let index = idle.lastIndex(of: connection) { idle.remove(at: index) }
    }

    /// The connection parked longest, to be closed when descriptors or the total limit run out.
    var eldestIdle: ConnectionID? { idle.first }

    /// Another dial if waiters outnumber those under way and a place is free.
    mutating func dialIfNeeded() -> Step {
        guard waiting > queueDials, total < limit else { return .nothing }
        queueDials += 1
        return .dial
    }

    private mutating func place(_ connection: ConnectionID) -> Step {
        if let waiter = nextWaiter() {
            busy += 1
            return .assign(connection, to: waiter)
        }
        idle.append(connection)
        return .park(connection)
    }

    /// The waiter that is served next.
    var firstWaiter: ExchangeID? { queue.first }

    private mutating func nextWaiter() -> ExchangeID? { queue.removeFirst() }
}
