import TestSupport
import Testing

@testable import UncurlEngine

/// What the pool does, with lists that are searched from their ends and nothing kept that could be counted.
private struct ReferencePool {
    let limit: Int
    var queue: [ExchangeID] = []
    /// Parked first comes first.
    var idle: [ConnectionID] = []
    var busy: [ConnectionID] = []
    var queueDials = 0
    var retryDials = 0

    var total: Int { queueDials + retryDials + busy.count + idle.count }

    mutating func dialIfNeeded() -> ConnectionPool.Step {
        guard queue.count > queueDials, total < limit else { return .nothing }
        queueDials += 1
        return .dial
    }

    mutating func place(_ connection: ConnectionID) -> ConnectionPool.Step {
        if queue.isEmpty {
            idle.append(connection)
            return .park(connection)
        }
        busy.append(connection)
        return .assign(connection, to: queue.removeFirst())
    }
}

/// Random traffic through the pool, each answer compared with the reference's.
private struct PoolTraffic {
    var random: SplitMix
    var pool: ConnectionPool
    var model: ReferencePool
    private var tickets: [ExchangeID: ConnectionPool.Ticket] = [:]
    private var spent: [ConnectionPool.Ticket] = []
    private var names: UInt32 = 0
    private(set) var served = 0

    init(seed: UInt64) {
        random = SplitMix(seed: seed)
        let limit = random.below(7) + 1
        pool = ConnectionPool(limit: limit)
        model = ReferencePool(limit: limit)
    }

    private mutating func name() -> SlotID {
        names += 1
        return SlotID(slot: names, generation: UInt32(truncatingIfNeeded: random.next()))
    }

    private mutating func pick<Element>(_ list: WritableKeyPath<ReferencePool, [Element]>) -> Element {
        let index = random.below(model[keyPath: list].count)
        return model[keyPath: list].remove(at: index)
    }

    private mutating func agree(_ step: ConnectionPool.Step, _ expected: ConnectionPool.Step) {
        #expect(step == expected)
        if case .assign(_, let waiter) = step {
            served += 1
            if let ticket = tickets.removeValue(forKey: waiter) { spent.append(ticket) }
        }
    }

    mutating func step() {
        switch random.below(14) {
        case 0, 1, 2: arrive()
        case 3 where model.queueDials > 0:
            let connection = name()
            model.queueDials -= 1
            agree(pool.dialled(connection), model.place(connection))
        case 4 where model.queueDials > 0:
            model.queueDials -= 1
            let told = model.queue.isEmpty ? nil : model.queue.removeFirst()
            #expect(pool.dialFailed() == told)
            if let told, let ticket = tickets.removeValue(forKey: told) { spent.append(ticket) }
            agree(pool.dialIfNeeded(), model.dialIfNeeded())
        case 5 where model.queueDials > 0:
            model.queueDials -= 1
            pool.dialAbandoned()
            agree(pool.dialIfNeeded(), model.dialIfNeeded())
        case 6, 7:
            guard !model.busy.isEmpty else { return }
            let connection = pick(\.busy)
            agree(pool.released(connection), model.place(connection))
        case 8 where !model.busy.isEmpty:
            _ = pick(\.busy)
            agree(pool.closedBusy(), model.dialIfNeeded())
        case 9 where !model.busy.isEmpty:
            _ = pick(\.busy)
            model.retryDials += 1
            pool.redial()
        case 10 where model.retryDials > 0: endRetry()
        case 11 where !model.idle.isEmpty:
            pool.closedIdle(pick(\.idle))
        case 12 where !model.queue.isEmpty:
            let leaver = pick(\.queue)
            if let ticket = tickets.removeValue(forKey: leaver) {
                pool.leave(ticket)
                spent.append(ticket)
            }
        case 13 where !spent.isEmpty:
            // Who has been served, has left or has failed leaves again: nobody else's place may go with it.
            pool.leave(spent[random.below(spent.count)])
            // Nor may an unknown idle connection take another with it.
            pool.closedIdle(name())
        default: return
        }
    }

    private mutating func arrive() {
        let waiter = name()
        while let connection = pool.takeIdle() {
            #expect(connection == model.idle.popLast())
            guard random.below(4) == 0 else { return model.busy.append(connection) }
            // It turned out dead; the next is asked for.
            pool.discardBusy()
        }
        #expect(model.idle.isEmpty)
        model.queue.append(waiter)
        let (ticket, step) = pool.wait(waiter)
        tickets[waiter] = ticket
        agree(step, model.dialIfNeeded())
    }

    private mutating func endRetry() {
        let connection = name()
        model.retryDials -= 1
        switch random.below(3) {
        case 0:
            pool.redialled()
            model.busy.append(connection)
        case 1: agree(pool.redialUnclaimed(connection), model.place(connection))
        default:
            pool.redialEnded()
            agree(pool.dialIfNeeded(), model.dialIfNeeded())
        }
    }

    func check() {
        #expect(pool.dialling == model.queueDials + model.retryDials)
        #expect(pool.busy == model.busy.count)
        #expect(pool.idleCount == model.idle.count)
        #expect(pool.waiting == model.queue.count)
        #expect(pool.total == model.total && pool.total <= pool.limit)
        #expect(pool.firstWaiter == model.queue.first)
        #expect(pool.eldestIdle == model.idle.first)
        #expect(pool.isEmpty == (model.total == 0 && model.queue.isEmpty))
        // Nobody waits while a connection lies idle, or while a place is free and no dial is his.
        #expect(model.queue.isEmpty || model.idle.isEmpty)
        #expect(model.queue.count <= model.queueDials || model.total == model.limit)
    }
}

@Suite("The connection pool against a model", .ownThread)
struct ConnectionPoolModelTests {
    @Test("every answer is the reference's, and the books balance after each step", arguments: 0..<24)
    func model(seed: UInt64) {
        var traffic = PoolTraffic(seed: seed)
        for _ in 0..<5_000 {
            traffic.step()
            traffic.check()
        }
        #expect(traffic.served > 100)
    }
}
