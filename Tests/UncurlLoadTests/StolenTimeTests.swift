import Testing
import UncurlReactor

@testable import UncurlLoad

struct StolenTimeTests {
    private func instant(_ nanoseconds: Int64) -> Instant { Instant(nanoseconds: nanoseconds) }

    @Test("the eighth number of the first line is the stolen time in ticks of 10 ms; a shorter line has none")
    func stat() {
        let text = "cpu  3608116 67312 384989 1171658 12924 0 68219 70675 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
        #expect(StolenTime.nanoseconds(inStat: text) == 706_750_000_000)
        for text in ["", "cpu  1 2 3 4\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 4 5 6 7 -8\n"] {
            #expect(StolenTime.nanoseconds(inStat: text) == nil)
        }
    }

    @Test("a time between two readings is interpolated, and one outside of them takes the nearest reading")
    func interpolation() {
        var time = StolenTime()
        #expect(time.between(instant(0), instant(10)) == nil)
        time.note(1_000, at: instant(100))
        time.note(1_100, at: instant(200))
        time.note(1_400, at: instant(300))
        #expect(time.between(instant(100), instant(300)) == 400)
        #expect(time.between(instant(150), instant(250)) == 200)
        #expect(time.between(instant(0), instant(200)) == 100)
        #expect(time.between(instant(250), instant(900)) == 150)
        // A count that goes back, as some hosts let it, is no stolen time.
        time.note(1_300, at: instant(400))
        #expect(time.between(instant(300), instant(400)) == 0)
    }

    @Test("forgetting readings leaves the times after the instant as they are")
    func forgetting() {
        var time = StolenTime()
        for index in 0..<100 { time.note(UInt64(index * index), at: instant(Int64(index) * 10)) }
        let before = time.between(instant(505), instant(700))
        time.forget(before: instant(505))
        #expect(time.between(instant(505), instant(700)) == before)
        #expect(time.between(instant(0), instant(500)) == 0)
    }

    @Test("this kernel tells the time")
    func kernel() throws {
        var time = StolenTime()
        time.read()
        #expect(time.between(.current(), .current()) == 0)
    }
}
