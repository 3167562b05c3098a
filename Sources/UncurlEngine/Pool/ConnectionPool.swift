internal import UncurlReactor

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

    var hasLent: Bool { lent > 0 }

    /// Whether more connections count than the limit allows: lent places were taken back.
    var isOverfull: Bool { total - lent > limit }

    mutating func lendPlace(ofQueueDial isQueueDial: Bool) {
        lent += 1
        if isQueueDial { lentDials += 1 }
    }

    /// Takes back what ``lendPlace(ofQueueDial:)`` has lent.
    mutating func takePlaceBack(ofQueueDial isQueueDial: Bool) {
        lent -= 1
        if isQueueDial { lentDials -= 1 }
    }

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

    var firstWaiter: ExchangeID? { queue.first }

    private mutating func nextWaiter() -> ExchangeID? { queue.takeFirst() }
}

/// The exchanges that wait for a connection to one host: those of a higher priority first, and of equals, first come,
/// first served.
struct WaitQueue {
    /// A place in the queue: the priority in the upper octet, inverted, and the number of the waiter. Leaving it only
    /// sets a mark.
    typealias Ticket = UInt64

    /// In the order of their tickets. The one at `head` has not been left.
    private var places: [(ticket: Ticket, waiter: ExchangeID?)] = []
    private var head = 0
    private var last: UInt64 = 0
    private(set) var count = 0

    /// The priority of a waiter that names none: the middle of the range.
    static let usual: UInt8 = 128

    /// How many places the storage has, those of leavers included.
    var stored: Int { places.count }

    /// The waiter that is served next.
    var first: ExchangeID? { head < places.count ? places[head].waiter : nil }

    mutating func append(_ waiter: ExchangeID, _ priority: UInt8) -> Ticket {
        count += 1
        last += 1
        let ticket = UInt64(.max - priority) << 56 | last
        places.insert((ticket, waiter), at: index(of: ticket))
        return ticket
    }

    mutating func leave(_ ticket: Ticket) {
        let index = index(of: ticket)
        guard index < places.count, places[index].ticket == ticket, places[index].waiter != nil else { return }
        places[index].waiter = nil
        count -= 1
        // Waiters that give up in order, as timeouts do, leave nothing behind, even if none is served for long.
        if index == head { dropFirst() }
    }

    mutating func takeFirst() -> ExchangeID? {
        guard let waiter = first else { return nil }
        count -= 1
        dropFirst()
        return waiter
    }

    /// Where a ticket stands, or would stand: nearly always at the end.
    private func index(of ticket: Ticket) -> Int {
        guard let end = places.last?.ticket, end >= ticket else { return places.count }
        var range = head..<places.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = places[middle].ticket < ticket ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    private mutating func dropFirst() {
        repeat { head += 1 } while head < places.count && places[head].waiter == nil
        if head == places.count {
            places.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024, head * 2 > places.count {
            places.removeFirst(head)
            head = 0
        }
    }
}

/// The connections that a user of an engine keeps for itself, one for each destination: its exchanges use no others,
/// and no other exchange uses them. For load tests, whose users do not share connections. It belongs to one engine's
/// loop.
package final class ConnectionKeeper {
    /// Those that carry no exchange now. Some may have been closed.
    var resting: [ConnectionID] = []

    package init() {}
}

/// Servers that lately closed a connection right after an answer without announcing it (no `Connection: close`,
/// RFC 9112 §9.6).
///
/// The server's FIN may be on its way while the next request is sent. A request that may be sent again is not harmed by
/// that. Another one fails if the server's kernel answers it with an RST, which does not say whether the server read
/// it. So such a request is not sent on a connection of these servers that has just answered: it gets a connection of
/// its own.
struct ClosingServers {
    /// How soon after its answer a close counts, and how long after its answer a connection is not trusted.
    private let haste: Duration
    private static let memory = Duration.seconds(60)
    /// The most servers that are remembered. With more, the table starts again.
    private static let limit = 1_024

    private var until: [Destination: Instant] = [:]

    init(haste: Duration = .seconds(1)) { self.haste = haste }

    var isEmpty: Bool { until.isEmpty }

    /// Notes that the server has closed a connection to `destination` whose last response ended at `answered`.
    mutating func note(_ destination: Destination, answered: Instant, now: Instant) {
        guard now < answered.advanced(by: haste) else { return }
        if until.count >= Self.limit { until = [:] }
        until[destination] = now.advanced(by: Self.memory)
    }

    /// Whether a connection to `destination` whose last response ended at `answered` may be about to close.
    func mayClose(_ destination: Destination, answered: Instant, now: Instant) -> Bool {
        guard !until.isEmpty, now < answered.advanced(by: haste), let end = until[destination] else {
            return false
        }
        return now < end
    }
}

/// Names an entry of a loop's table: the slot, and the generation that tells its entry from earlier ones.
public struct SlotID: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
}

/// Names an exchange from its start to its outcome, and nothing afterwards.
public typealias ExchangeID = SlotID

/// Names a connection while it is open.
typealias ConnectionID = SlotID

/// Objects that are found by slot in constant time. Stale names are recognised by their generation.
struct SlotTable<Entry: AnyObject> {
    private var slots: [(entry: Entry?, generation: UInt32)] = []
    private var free: [UInt32] = []
    /// How many entries there have been: the number of the entry that was reserved last.
    private(set) var opened = 0

    var count: Int { slots.count - free.count }

    /// Reserves an id for an entry that needs to know it; ``fill(_:with:)`` must follow.
    mutating func reserve() -> SlotID {
        opened += 1
        let slot = free.popLast() ?? grow()
        return SlotID(slot: slot, generation: slots[Int(slot)].generation)
    }

    mutating func fill(_ id: SlotID, with entry: Entry) { slots[Int(id.slot)].entry = entry }

    @inline(__always)
    subscript(id: SlotID) -> Entry? {
        let slot = Int(id.slot)
        guard slot < slots.count, slots[slot].generation == id.generation else { return nil }
        return slots[slot].entry
    }

    mutating func remove(_ id: SlotID) {
        guard self[id] != nil else { return }
        slots[Int(id.slot)].entry = nil
        slots[Int(id.slot)].generation &+= 1
        free.append(id.slot)
    }

    /// A copy, so that entries may leave the table during an iteration.
    var all: [Entry] { slots.compactMap(\.entry) }

    private mutating func grow() -> UInt32 {
        slots.append((nil, 0))
        return UInt32(slots.count - 1)
    }
}

/// The hosts that have connections or waiters, and those that wait for a place among the engine's connections.
struct HostTable {
    private var hosts: [Destination: Host] = [:]
    /// The host of the last request: most programs use one host many times.
    private var last: Host?
    /// The hosts that wait for a place, each once, in the order of their arrival.
    private var starved: [Host] = []

    var count: Int { hosts.count }
    var all: Dictionary<Destination, Host>.Values { hosts.values }

    /// Whether a host has an idle connection.
    var hasIdle: Bool {
        if let last, last.pool.idleCount > 0 { return true }
        return hosts.values.contains { $0.pool.idleCount > 0 }
    }

    /// The host of the last request, if it is this one.
    @inline(__always)
    func recent(_ destination: Destination) -> Host? {
        if let last, last.destination == destination { last } else { nil }
    }

    mutating func find(_ destination: Destination, orMake make: () -> Host) -> Host {
        let host = hosts[destination] ?? make()
        hosts[destination] = host
        last = host
        return host
    }

    /// Removes a host that has neither connections nor waiters, so that the table does not grow with hosts that are no
    /// longer used.
    mutating func tidy(_ host: Host) {
        guard host.pool.isEmpty, !host.isStarved else { return }
        hosts[host.destination] = nil
        if last === host { last = nil }
    }

    // MARK: Without a place

    var hasStarved: Bool { !starved.isEmpty }

    /// Whether another host than this one waits for a place.
    func hasStarved(besides host: Host) -> Bool { starved.count > (host.isStarved ? 1 : 0) }

    mutating func starve(_ host: Host) {
        guard !host.isStarved else { return }
        host.isStarved = true
        starved.append(host)
    }

    mutating func noLongerStarved(_ host: Host) {
        guard host.isStarved else { return }
        host.isStarved = false
        starved.removeAll { $0 === host }
    }

    /// Removes and returns the host that has waited longest for a place.
    mutating func nextStarved() -> Host? {
        guard !starved.isEmpty else { return nil }
        let host = starved.removeFirst()
        host.isStarved = false
        return host
    }
}

/// One destination's connections and waiters on an engine.
final class Host {
    let destination: Destination
    let route: Route
    var pool: ConnectionPool
    /// Whether it waits for any connection to close: the engine's total limit is reached.
    var isStarved = false
    /// Whether the last answer was HTTP/1.0: such a server does not know chunks (RFC 9112 §6.1).
    var isHTTP10 = false

    init(_ destination: Destination, _ route: Route, limit: Int) {
        self.destination = destination
        self.route = route
        pool = ConnectionPool(limit: limit)
    }
}
