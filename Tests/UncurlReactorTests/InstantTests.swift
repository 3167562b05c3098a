import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Instants", .ownThread)
struct InstantTests {
    @Test("an absurd span means never, not a trap")
    func saturation() {
        let now = Instant(nanoseconds: 5)
        #expect(now.advanced(by: .seconds(Int64.max)) == .never)
        #expect(now.advanced(byNanoseconds: .max) == .never)
        #expect(Instant(nanoseconds: -5).advanced(by: .seconds(Int64.min)).nanoseconds == .min)
        #expect(Instant.never.advanced(by: .seconds(1)) == .never)
    }

    @Test("durations convert to whole nanoseconds, rounded towards zero")
    func durations() {
        #expect(Duration.milliseconds(1_500).wholeNanoseconds == 1_500_000_000)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999).wholeNanoseconds == 1)
        #expect(Duration.seconds(-2).wholeNanoseconds == -2_000_000_000)
    }

    @Test("the clocks run forward, and the one that counts suspend is not behind")
    func clocks() {
        let (first, second) = (Instant.current(), Instant.current())
        #expect(first <= second)
        #expect(Instant.sinceBoot() >= first)
        #expect(second.nanoseconds(since: first) >= 0)
    }
}
