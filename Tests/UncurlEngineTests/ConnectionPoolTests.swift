import TestSupport
import Testing

@testable import UncurlEngine

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

    @Test("a waiter of more priority is served first; among equals, the one that came first")
    func priorities() {
        var pool = ConnectionPool(limit: 1)
        _ = pool.wait(waiter(0))
        _ = pool.wait(waiter(1))
        _ = pool.wait(waiter(2), priority: 200)
        let (leaver, _) = pool.wait(waiter(3), priority: 255)
        _ = pool.wait(waiter(4), priority: 10)
        _ = pool.wait(waiter(5), priority: 200)
        pool.leave(leaver)
        var served = [pool.dialled(connection(0))]
        for _ in 0..<4 { served.append(pool.released(connection(0))) }
        #expect(served == [2, 5, 0, 1, 4].map { .assign(connection(0), to: waiter($0)) })
        #expect(pool.waiting == 0)
    }

    @Test("a lent place serves a waiter, and when it is taken back, the pool has more than its limit until one closes")
    func lent() {
        var pool = ConnectionPool(limit: 1)
        _ = pool.wait(waiter(0))
        #expect(pool.dialled(connection(0)) == .assign(connection(0), to: waiter(0)))
        #expect(pool.wait(waiter(1)).1 == .nothing && pool.isShort && !pool.needsDial)
        pool.lendPlace(ofQueueDial: false)
        #expect(pool.dialIfNeeded() == .dial && !pool.isShort && !pool.isOverfull)
        #expect(pool.dialled(connection(1)) == .assign(connection(1), to: waiter(1)))
        #expect(pool.wait(waiter(2)).1 == .nothing)
        pool.takePlaceBack(ofQueueDial: false)
        #expect(pool.isOverfull && pool.total == 2)
        #expect(pool.closedBusy() == .nothing && !pool.isOverfull)
        #expect(pool.released(connection(0)) == .assign(connection(0), to: waiter(2)))
    }

    @Test("a dial that has lent its place is for no waiter until it takes the place back")
    func lentDial() {
        var pool = ConnectionPool(limit: 1)
        #expect(pool.wait(waiter(0)).1 == .dial && !pool.isShort)
        pool.lendPlace(ofQueueDial: true)
        #expect(pool.isShort && pool.dialIfNeeded() == .dial)
        pool.takePlaceBack(ofQueueDial: true)
        #expect(pool.isOverfull && pool.hasSurplusDials)
        #expect(pool.dialled(connection(0)) == .assign(connection(0), to: waiter(0)))
        #expect(pool.dialled(connection(1)) == .park(connection(1)) && pool.isOverfull)
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

    @Test("a retry's dial serves its exchange alone: one that waits beside it has a dial of its own")
    func besideRedial() {
        var pool = ConnectionPool(limit: 2)
        _ = pool.wait(waiter(0))
        _ = pool.dialled(connection(0))
        pool.redial()
        #expect(pool.wait(waiter(1)).1 == .dial)
        #expect(pool.dialling == 2 && pool.total == 2)
        pool.redialEnded()
        #expect(pool.dialIfNeeded() == .nothing)
        #expect(pool.dialled(connection(1)) == .assign(connection(1), to: waiter(1)))
    }

    @Test("the connection of a retry whose exchange has left goes to the first waiter")
    func unclaimed() {
        var pool = ConnectionPool(limit: 1)
        _ = pool.wait(waiter(0))
        _ = pool.dialled(connection(0))
        pool.redial()
        #expect(pool.wait(waiter(1)).1 == .nothing)
        #expect(pool.redialUnclaimed(connection(1)) == .assign(connection(1), to: waiter(1)))
        #expect(pool.dialling == 0 && pool.busy == 1)
    }
}
