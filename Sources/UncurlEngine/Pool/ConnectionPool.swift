/// Decides which connection serves which exchange, for one destination. A plain struct that touches no socket.
///
/// ```
///              lease                    dialled            released, reusable
///   waiter ──▶ idle? ─yes─▶ busy     dialling ─▶ busy ◀───────────── busy
///                └no─▶ queue (+ dial)     └▶ idle (queue empty)        └▶ idle (queue empty)
/// ```
/// - Idle connections are used last in, first out: the one used last is taken first, and the others reach their idle
///   limit.
/// - Waiters are served by priority, and first come, first served, by the connection that comes free first, new or
///   used.
/// - A dial belongs to the pool, not to the waiter that caused it. There are never more dials than waiters at the time
///   when one is started, and never more connections than `limit`.
/// - A connection or dial whose exchange waits for the program may lend its place: it does not count until it takes the
///   place back.
struct ConnectionPool {
    /// What the owner has to do next.
    enum Step: Equatable {
        /// The waiter has this connection.
        case assign(ConnectionID, to: ExchangeID)
        /// Start one dial; report it with ``dialled(_:)`` or ``dialFailed()``.
        case dial
        /// The connection is parked.
        case park(ConnectionID)
        /// Nothing is to be done: the waiters have their dials, or there are none.
        case nothing
    }

    typealias Ticket = WaitQueue.Ticket

    let limit: Int

    /// The dials for the queue, and those of retries, each of which serves its own exchange.
    private var queueDials = 0
    private var retryDials = 0
    private(set) var busy = 0
    /// How many busy connections and dials have lent their places, and how many of these are dials for the queue.
    private var lent = 0
    private var lentDials = 0
    private var idle: [ConnectionID] = []
    private var queue = WaitQueue()

    init(limit: Int) { self.limit = max(1, limit) }

    /// How many places the queue's storage has, those of leavers included.
    var queued: Int { queue.stored }
    var waiting: Int { queue.count }
    var idleCount: Int { idle.count }
    var dialling: Int { queueDials + retryDials }
    var total: Int { dialling + busy + idle.count }
    /// Whether more dials are under way than there are waiters.
    var hasSurplusDials: Bool { queueDials > waiting }
    var isEmpty: Bool { total == 0 && waiting == 0 }

    /// Returns the connection to try first. It counts as busy from here on; if it is dead, the owner calls
    /// ``discardBusy()`` and asks again.
    mutating func takeIdle() -> ConnectionID? {
        guard let connection = idle.popLast() else { return nil }
        busy += 1
        return connection
    }

    /// Queues an exchange that found no idle connection.
    ///
    /// - Parameter priority: waiters with a higher one are served first.
    mutating func wait(_ waiter: ExchangeID, priority: UInt8 = WaitQueue.usual) -> (Ticket, Step) {
        let ticket = queue.append(waiter, priority)
        return (ticket, dialIfNeeded())
    }

    /// Notes that the waiter gives up. A dial under way for it goes on, and its connection is parked for the next one.
    mutating func leave(_ ticket: Ticket) { queue.leave(ticket) }

    mutating func dialled(_ connection: ConnectionID) -> Step {
        queueDials -= 1
        return place(connection)
    }

    /// Notes that a dial failed. Returns the first waiter, which is told: the connection would have been its own.
    mutating func dialFailed() -> ExchangeID? {
        queueDials -= 1
        return nextWaiter()
    }

    /// Notes that the owner gave up the dial. No waiter is told.
    mutating func dialAbandoned() { queueDials -= 1 }

    /// Notes that a busy connection has come free for the next exchange.
    mutating func released(_ connection: ConnectionID) -> Step {
        busy -= 1
        return place(connection)
    }

    /// Notes that a busy connection is gone; its place may serve a waiter.
    mutating func closedBusy() -> Step {
        busy -= 1
        return dialIfNeeded()
    }

    /// Notes that a connection that was just taken is dead.
    mutating func discardBusy() { busy -= 1 }

    /// Notes that a busy connection is gone and its exchange dials again, without the queue: it has had its turn.
    mutating func redial() {
        busy -= 1
        retryDials += 1
    }

    /// Notes that the dial of ``redial()`` has its connection.
    mutating func redialled() {
        retryDials -= 1
        busy += 1
    }

    /// Notes that the dial of ``redial()`` has its connection, and that its exchange is gone.
    mutating func redialUnclaimed(_ connection: ConnectionID) -> Step {
        retryDials -= 1
        return place(connection)
    }

    /// Notes that the dial of ``redial()`` failed, or was given up.
    mutating func redialEnded() { retryDials -= 1 }

    mutating func closedIdle(_ connection: ConnectionID) {
        // The search begins at the end: connections that close early were parked last; the oldest leave from the front
        // by their idle limit.
        if let index = idle.lastIndex(of: connection) { idle.remove(at: index) }
    }

    /// The connection parked longest. It is closed when descriptors run out or the total limit is reached.
    var eldestIdle: ConnectionID? { idle.first }

    /// Whether there are more waiters than dials that can serve them.
    var isShort: Bool { waiting > queueDials - lentDials }

    /// Whether there are more waiters than dials, and a place is free.
    var needsDial: Bool { isShort && total - lent < limit }

    /// Whether a place is lent.
    var hasLent: Bool { lent > 0 }

    /// Whether more connections count than the limit allows: lent places were taken back.
    var isOverfull: Bool { total - lent > limit }

    /// Lends the place of a busy connection, or of a dial.
    mutating func lendPlace(ofQueueDial isQueueDial: Bool) {
        lent += 1
        if isQueueDial { lentDials += 1 }
    }

    /// Takes back what ``lendPlace(ofQueueDial:)`` has lent.
    mutating func takePlaceBack(ofQueueDial isQueueDial: Bool) {
        lent -= 1
        if isQueueDial { lentDials -= 1 }
    }

    /// Returns another dial if one is needed.
    mutating func dialIfNeeded() -> Step {
        guard needsDial else { return .nothing }
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
