import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Loop clocks", .ownThread)
struct LoopClockTests {
    @Test("a manual clock moves only when told")
    func manual() throws {
        let clock = ManualClock(start: Instant(nanoseconds: 5))
        let loop = try EventLoop(clock: .manual(clock))
        #expect(LoopClock.manual(clock).now == Instant(nanoseconds: 5))
        clock.advance(by: .nanoseconds(7), waking: loop)
        #expect(clock.now == Instant(nanoseconds: 12))
        #expect(loop.now == Instant(nanoseconds: 5))
        #expect(loop.stamp() == Instant(nanoseconds: 12))
    }

    @Test("only the real clock knows of suspends")
    func suspends() {
        #expect(LoopClock.manual(ManualClock()).nanosecondsInSuspend == 0)
        #expect(LoopClock.monotonic.nanosecondsInSuspend >= -1_000_000)
    }
}
