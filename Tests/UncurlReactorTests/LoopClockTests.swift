import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Loop clocks", .ownThread)
struct LoopClockTests {
    @Test("a manual clock moves only when told")
    func manual() throws {
        let clock = ManualClock(start: Instant(nanoseconds: 5))
        let loop = try EventLoop(clock: clock)
        #expect(clock.now == Instant(nanoseconds: 5))
        clock.advance(by: .nanoseconds(7), waking: loop)
        #expect(clock.now == Instant(nanoseconds: 12))
        #expect(loop.now == Instant(nanoseconds: 5))
        #expect(loop.stamp() == Instant(nanoseconds: 12))
    }

    @Test("only the real clock knows of suspends")
    func suspends() throws {
        let manual = try EventLoop(clock: ManualClock())
        #expect(manual.sinceBoot == manual.now)
        let real = try EventLoop()
        #expect(real.sinceBoot.nanoseconds(since: real.now) >= -1_000_000)
    }
}
