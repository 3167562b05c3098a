import Reactor
import Testing

@testable import LoadTester

@Suite("Arrivals")
struct ArrivalsTests {
    private let profile = LoadProfile(rate: Rate(perSecond: 10), duration: 1_000_000_000)

    @Test("threads take turns, and together they have each request once")
    func turns() {
        var all: [Int64] = []
        for thread in 0..<3 {
            var arrivals = Arrivals(profile, from: Instant(nanoseconds: 7), thread: thread, of: 3)
            while let due = arrivals.notice(by: Instant(nanoseconds: 2_000_000_000)) { all.append(due.nanoseconds) }
            #expect(arrivals.next == .never)
        }
        #expect(all.sorted() == (0..<10).map { 7 + $0 * 100_000_000 })
    }

    @Test("nothing is noticed early, and what is taken is what was due first, however late")
    func order() {
        var arrivals = Arrivals(profile, from: Instant(nanoseconds: 0), thread: 0, of: 1)
        #expect(arrivals.notice(by: Instant(nanoseconds: 0)) == Instant(nanoseconds: 0))
        #expect(arrivals.notice(by: Instant(nanoseconds: 99_999_999)) == nil)
        #expect(arrivals.next == Instant(nanoseconds: 100_000_000))
        while arrivals.notice(by: Instant(nanoseconds: 350_000_000)) != nil {}
        #expect(arrivals.backlog == 4)
        let taken = (0..<4).map { _ in arrivals.take()?.nanoseconds }
        #expect(taken == [0, 100_000_000, 200_000_000, 300_000_000])
        #expect(arrivals.take() == nil)
    }

    @Test("a limit by count ends it, whatever the profile still has")
    func limit() {
        var arrivals = Arrivals(profile, from: Instant(nanoseconds: 0), thread: 0, of: 1, limit: 2)
        while arrivals.notice(by: Instant(nanoseconds: .max - 1)) != nil {}
        #expect(arrivals.noticed == 2)
    }
}
