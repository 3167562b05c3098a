import Reactor
import Testing

@testable import TestServer

@Suite struct MonitorTests {
    @Test("a wait ends when another thread makes its condition true")
    func wakes() throws {
        let monitor = Monitor(0)
        let other = Worker { for _ in 0..<100 { monitor.update { $0 += 1 } } }
        #expect(monitor.wait(within: .seconds(5)) { $0 == 100 ? "done" : nil } == "done")
        try other.join()
        #expect(monitor.read { $0 } == 100)
    }

    @Test("a wait that nothing satisfies ends at its limit, not before")
    func limit() {
        let monitor = Monitor(0)
        let start = Instant.current()
        #expect(monitor.wait(within: .milliseconds(30)) { $0 > 0 ? true : nil } == nil)
        #expect(Instant.current().nanoseconds(since: start) >= 30_000_000)
    }
}
