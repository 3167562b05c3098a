import Synchronization
import Testing
import UncurlReactor

@testable import UncurlLoad

@Suite("Backlog")
struct BacklogTests {
    private let profile = LoadProfile(rate: Rate(perSecond: 10), duration: 1_000_000_000)

    private func milliseconds(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000) }

    /// Notices a thread's arrivals by that time, and adds them.
    private func add(_ thread: Int, of threads: Int, by now: Instant, to backlog: Backlog) -> ArrivalSchedule {
        var arrivals = ArrivalSchedule(profile, from: milliseconds(0), thread: thread, of: threads)
        let first = arrivals.cursor
        while arrivals.notice(by: now) != nil {}
        backlog.add(thread, from: first, until: arrivals.noticed, at: now)
        return arrivals
    }

    @Test("requests of all threads leave in the order in which they were due, each once")
    func order() {
        let backlog = Backlog(threads: 3)
        for thread in [2, 0, 1] { _ = add(thread, of: 3, by: milliseconds(950), to: backlog) }
        #expect(backlog.count == 10)
        let taken = (0..<10).compactMap { _ in backlog.take() }
        #expect(taken.map(\.due) == (0..<10).map { milliseconds($0 * 100) })
        #expect(taken.map(\.number) == Array(0..<10))
        #expect(taken.allSatisfy { $0.noticed == milliseconds(950) })
        #expect(backlog.take() == nil && backlog.isEmpty)
    }

    @Test("a thread drops its own requests and no others")
    func drop() {
        let backlog = Backlog(threads: 2)
        for thread in 0..<2 { _ = add(thread, of: 2, by: milliseconds(350), to: backlog) }
        var dropped: [Instant] = []
        backlog.drop(1) { due, count in
            #expect(count == 1)
            dropped.append(due)
        }
        #expect(dropped == [milliseconds(100), milliseconds(300)])
        #expect((0..<3).map { _ in backlog.take()?.due } == [milliseconds(0), milliseconds(200), nil])
    }

    @Test("a thread with a free connection is called once until it looks, and one without is not called")
    func calls() {
        let backlog = Backlog(threads: 3)
        let calls = Mutex([0, 0, 0])
        for thread in 0..<3 { backlog.join(thread) { calls.withLock { $0[thread] += 1 } } }
        #expect(!backlog.setFree(2, true))
        _ = add(0, of: 3, by: milliseconds(0), to: backlog)
        for _ in 0..<2 { backlog.callFree(after: 0) }
        #expect(calls.withLock { $0 } == [0, 0, 1])
        backlog.answered(2)
        backlog.callFree(after: 0)
        #expect(calls.withLock { $0 } == [0, 0, 2])
        // A thread that gets a connection while a request waits learns of it at once.
        #expect(backlog.setFree(1, true) && !backlog.setFree(2, false))
    }

    @Test("when no request waits and none will, every thread is told")
    func over() {
        let backlog = Backlog(threads: 2)
        let calls = Mutex([0, 0])
        for thread in 0..<2 { backlog.join(thread) { calls.withLock { $0[thread] += 1 } } }
        _ = add(0, of: 2, by: milliseconds(0), to: backlog)
        backlog.end(0)
        backlog.end(0)
        backlog.end(1)
        #expect(!backlog.isOver && calls.withLock { $0 } == [0, 0])
        #expect(backlog.take() != nil && backlog.isOver)
        #expect(calls.withLock { $0 } == [1, 1])
    }

    @Test("a thread that leaves hands what waits to the next, and is not called again")
    func leave() {
        let backlog = Backlog(threads: 2)
        let calls = Mutex([0, 0])
        for thread in 0..<2 { backlog.join(thread) { calls.withLock { $0[thread] += 1 } } }
        _ = add(0, of: 2, by: milliseconds(0), to: backlog)
        _ = backlog.setFree(1, true)
        backlog.leave(0)
        #expect(calls.withLock { $0 } == [0, 1])
        backlog.answered(1)
        backlog.leave(1)
        #expect(calls.withLock { $0 } == [0, 1])
    }
}
