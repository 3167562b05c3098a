import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Alarm", .ownThread)
struct AlarmTests {
    private final class Ringer: AlarmHandler {
        let loop: EventLoop
        var left: Int
        var next: Instant
        var lateness: [Int64] = []
        let spin: Int64

        init(_ loop: EventLoop, _ count: Int, spin: Int64 = 0) {
            (self.loop, left, self.spin) = (loop, count, spin)
            next = loop.now
        }

        func alarmRang() {
            lateness.append(loop.now.nanoseconds(since: next))
            left -= 1
            set()
        }

        func set() {
            guard left > 0 else { return loop.stop() }
            next = loop.now.advanced(byNanoseconds: 1_300_000)
            loop.setAlarm(at: next, spin: spin, self)
        }
    }

    @Test("an alarm never fires early, and far more precisely than the wheel", arguments: [0, 50_000] as [Int64])
    func sharp(spin: Int64) throws {
        let bench = try LoopBench()
        let ringer = Ringer(bench.loop, 40, spin: spin)
        let bound = LoopBound(ringer, on: bench.loop)
        bench.loop.post { bound.value.set() }
        bench.run()
        #expect(ringer.lateness.count == 40)
        #expect(ringer.lateness.allSatisfy { $0 >= 0 })
        // The wheel would take 4 ms on average, and each wake begins at one of its ticks. A machine with other work delays
        // many wakes, not three quarters of them.
        #expect(ringer.lateness.sorted()[10] < 2_000_000)
    }

    @Test("setting it again moves it, and setting it to never stops it")
    func moved() throws {
        let bench = try LoopBench(manual: true)
        let loop = bench.loop
        let clock = try #require(bench.clock)
        let ringer = Ringer(loop, 1)
        let start = loop.now
        ringer.next = start.advanced(byNanoseconds: 5)
        loop.setAlarm(at: start.advanced(byNanoseconds: 2), ringer)
        loop.setAlarm(at: .never, ringer)
        loop.setAlarm(at: ringer.next, ringer)
        loop.post {
            clock.advance(by: .nanoseconds(4), waking: loop)
            loop.post { clock.advance(by: .nanoseconds(3), waking: loop) }
        }
        bench.run()
        #expect(ringer.lateness == [2])
    }

    @Test("a wait of less than a millisecond lasts as long as it was told")
    func waits() throws {
        let poller = try Poller()
        let begun = Instant.current()
        #expect(try poller.wait(nanoseconds: 300_000) == 0)
        #expect(Instant.current().nanoseconds(since: begun) >= 300_000)
    }
}
