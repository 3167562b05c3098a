import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Calls when the loop is idle", .ownThread)
struct IdleCallsTests {
    @Test("calls are made in order once nothing is ready, and what they ask for waits for the next time")
    func order() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let log = Log()
        loop.post { [bound = LoopBound(log, on: loop)] in
            loop.runWhenIdle {
                bound.value.entries.append("first")
                loop.runWhenIdle {
                    bound.value.entries.append("later")
                    loop.stop()
                }
            }
            loop.runWhenIdle { bound.value.entries.append("second") }
        }
        bench.run()
        #expect(log.entries == ["first", "second", "later"])
    }

    @Test("events that never cease put a call off for a few turns, not for ever")
    func busy() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let (ours, theirs) = Wire.pair()
        defer { for end in [ours, theirs] { close(end) } }
        // Never read: the socket is ready in every turn.
        let probe = Probe()
        var turns = 0
        probe.onReady = { _ in
            turns += 1
            if turns == 1 { loop.runWhenIdle { loop.stop() } }
        }
        _ = try loop.register(ours, .read, probe)
        Wire.send(theirs, "x")
        bench.run()
        #expect((4...5).contains(turns))
    }

    @Test("a loop that ends makes them still")
    func end() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let log = Log()
        loop.post { [bound = LoopBound(log, on: loop)] in
            loop.stop()
            loop.runWhenIdle { bound.value.entries.append("made") }
        }
        bench.run()
        #expect(log.entries == ["made"])
    }

    private final class Log {
        var entries: [String] = []
    }
}
