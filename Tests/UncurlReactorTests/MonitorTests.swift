import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Monitor", .ownThread)
struct MonitorTests {
    @Test("a wait ends with what a signal made true")
    func signalled() throws {
        let monitor = Monitor(0)
        let thread = try LoopThread(name: "test") {
            monitor.withLock { $0 = 7 }
            monitor.signal()
        }
        let value = monitor.wait(atMost: .seconds(10), until: { $0 > 0 ? $0 : nil }, otherwise: { _ in -1 })
        #expect(value == 7)
        thread.join()
    }

    @Test("a wait that is not answered ends at its limit, under the same lock")
    func late() {
        let monitor = Monitor(1)
        let value = monitor.wait(
            atMost: .milliseconds(1),
            until: { _ in Int?.none },
            otherwise: { state -> Int in
                state += 1
                return state
            }
        )
        #expect(value == 2)
    }

    @Test("an update wakes all threads that wait, and without an answer a wait ends at its limit, not before")
    func updates() throws {
        let monitor = Monitor(0)
        let threads = try (0..<2).map { index in
            try LoopThread(name: "test-\(index)") {
                let value = monitor.wait(atMost: .seconds(10)) { $0 >= 100 ? $0 : nil }
                monitor.update { $0 += value == nil ? 0 : 1 }
            }
        }
        for _ in 0..<100 { monitor.update { $0 += 1 } }
        for thread in threads { thread.join() }
        #expect(monitor.withLock { $0 } == 102)
        let start = Instant.current()
        #expect(monitor.wait(atMost: .milliseconds(20)) { $0 > 1_000 ? true : nil } == nil)
        #expect(Instant.current().nanoseconds(since: start) >= 20_000_000)
    }

    @Test("what holds already is not waited for")
    func immediate() {
        #expect(Monitor(3).wait(atMost: .seconds(-5), until: { $0 }, otherwise: { _ in 0 }) == 3)
    }
}
