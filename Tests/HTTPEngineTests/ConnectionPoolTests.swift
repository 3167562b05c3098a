import TestSupport
import Testing

@testable import HTTPEngine

@Suite("The connection pool")
struct ConnectionPoolTests {
    private func connection(_ number: UInt32) -> ConnectionID { ConnectionID(slot: number, generation: 0) }
    private func waiter(_ number: UInt32) -> ExchangeID { ExchangeID(slot: number, generation: 7) }

    @Test("reuses the connection parked last")
    func lifo() {
        var pool = ConnectionPool(limit: 3)
        for number in 0..<3 as Range<UInt32> {
            #expect(pool.wait(waiter(number)).1 == .dial)
            #expect(pool.dialled(connection(number)) == .assign(connection(number), to: waiter(number)))
        }
        for number in 0..<3 as Range<UInt32> { #expect(pool.released(connection(number)) == .park(connection(number))) }
        #expect(pool.takeIdle() == connection(2))
        #expect(pool.eldestIdle == connection(0))
    }

    @Test("serves waiters first come, first served, with whatever connection comes free first")
    func fifo() {
        var pool = ConnectionPool(limit: 2)
        #expect(pool.wait(waiter(0)).1 == .dial)
        #expect(pool.wait(waiter(1)).1 == .dial)
        #expect(pool.wait(waiter(2)).1 == .nothing)
        #expect(pool.dialled(connection(9)) == .assign(connection(9), to: waiter(0)))
        #expect(pool.released(connection(9)) == .assign(connection(9), to: waiter(1)))
        #expect(pool.dialled(connection(8)) == .assign(connection(8), to: waiter(2)))
    }

    @Test("never has more connections than the limit, dials included")
    func limit() {
        var pool = ConnectionPool(limit: 2)
        let steps = (0..<10 as Range<UInt32>).map { pool.wait(waiter($0)).1 }
        #expect(steps.filter { $0 == .dial }.count == 2)
        #expect(pool.total == 2)
        #expect(pool.waiting == 10)
    }

    @Test("a waiter that leaves is passed over, and its dial parks for the next")
    func leaving() {
        var pool = ConnectionPool(limit: 4)
        let (first, _) = pool.wait(waiter(0))
        let (second, _) = pool.wait(waiter(1))
        #expect(pool.firstWaiter == waiter(0))
        pool.leave(first)
        pool.leave(first)
        #expect(pool.firstWaiter == waiter(1))
        #expect(pool.waiting == 1)
        #expect(pool.dialled(connection(0)) == .assign(connection(0), to: waiter(1)))
        pool.leave(second)
        #expect(pool.dialled(connection(1)) == .park(connection(1)))
        #expect(pool.waiting == 0)
    }

    @Test("a failed dial fails the first waiter, and the rest dial again")
    func failure() {
        var pool = ConnectionPool(limit: 1)
        _ = pool.wait(waiter(0))
        _ = pool.wait(waiter(1))
        #expect(pool.dialFailed() == waiter(0))
        #expect(pool.dialIfNeeded() == .dial)
        #expect(pool.dialFailed() == waiter(1))
        #expect(pool.dialIfNeeded() == .nothing)
        #expect(pool.isEmpty)
    }

    @Test("a closed busy connection's place goes to a waiter")
    func closing() {
        var pool = ConnectionPool(limit: 1)
        _ = pool.wait(waiter(0))
        _ = pool.dialled(connection(0))
        #expect(pool.wait(waiter(1)).1 == .nothing)
        #expect(pool.closedBusy() == .dial)
    }

    @Test("a retry keeps its place: it dials past the queue")
    func redial() {
        var pool = ConnectionPool(limit: 1)
        _ = pool.wait(waiter(0))
        _ = pool.dialled(connection(0))
        pool.redial()
        #expect(pool.dialling == 1 && pool.busy == 0)
        pool.redialled()
        #expect(pool.released(connection(1)) == .park(connection(1)))
    }

    /// Against a naive model: every waiter is served once or leaves once, in order, and the books balance.
    @Test("agrees with a naive model under random traffic", arguments: 0..<20)
    func model(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var pool = ConnectionPool(limit: Int(random.next() % 6) + 1)
        var queue: [ExchangeID] = []
        var tickets: [ExchangeID: ConnectionPool.Ticket] = [:]
        var busy: [ConnectionID] = []
        var idle: [ConnectionID] = []
        var dialling = 0
        var nextWaiter: UInt32 = 0
        var nextConnection: UInt32 = 0
        func check(_ step: ConnectionPool.Step) {
            switch step {
            case .assign(let connection, let waiter):
                #expect(waiter == queue.first)
                if !queue.isEmpty { queue.removeFirst() }
                tickets[waiter] = nil
                busy.append(connection)
            case .dial: dialling += 1
            case .park(let connection):
                #expect(queue.isEmpty)
                idle.append(connection)
            case .nothing: break
            }
        }
        for _ in 0..<4_000 {
            switch random.next() % 8 {
            case 0, 1:
                let waiter = waiter(nextWaiter)
                nextWaiter += 1
                if let connection = pool.takeIdle() {
                    #expect(connection == idle.popLast())
                    busy.append(connection)
                } else {
                    #expect(idle.isEmpty)
                    queue.append(waiter)
                    let (ticket, step) = pool.wait(waiter)
                    tickets[waiter] = ticket
                    check(step)
                }
            case 2 where dialling > 0:
                dialling -= 1
                let fresh = connection(nextConnection)
                nextConnection += 1
                check(pool.dialled(fresh))
            case 3 where dialling > 0:
                dialling -= 1
                let failed = pool.dialFailed()
                #expect(failed == queue.first)
                if !queue.isEmpty { tickets[queue.removeFirst()] = nil }
                check(pool.dialIfNeeded())
            case 4 where !busy.isEmpty:
                check(pool.released(busy.remove(at: Int(random.next() % UInt64(busy.count)))))
            case 5 where !busy.isEmpty:
                busy.remove(at: Int(random.next() % UInt64(busy.count)))
                check(pool.closedBusy())
            case 6 where !idle.isEmpty:
                pool.closedIdle(idle.remove(at: Int(random.next() % UInt64(idle.count))))
            case 7 where !queue.isEmpty:
                let leaver = queue.remove(at: Int(random.next() % UInt64(queue.count)))
                if let ticket = tickets.removeValue(forKey: leaver) { pool.leave(ticket) }
            default: continue
            }
            #expect(pool.dialling == dialling)
            #expect(pool.busy == busy.count)
            #expect(pool.idleCount == idle.count)
            #expect(pool.waiting == queue.count)
            #expect(pool.total <= pool.limit)
            // Nobody waits while a place is free and no dial is on its way.
            #expect(queue.isEmpty || pool.total == pool.limit || dialling > 0)
        }
    }
}
