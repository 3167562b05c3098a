import Glibc
import Testing
import UncurlReactor

@testable import UncurlLoad

@Suite("ArrivalSchedule")
struct ArrivalsTests {
    private let profile = LoadProfile(rate: Rate(perSecond: 10), duration: 1_000_000_000)

    @Test("threads take turns, and together they have each request once")
    func turns() {
        var all: [Int64] = []
        for thread in 0..<3 {
            var arrivals = ArrivalSchedule(profile, from: Instant(nanoseconds: 7), thread: thread, of: 3)
            while let due = arrivals.notice(by: Instant(nanoseconds: 2_000_000_000)) { all.append(due.nanoseconds) }
            #expect(arrivals.next == .never)
        }
        #expect(all.sorted() == (0..<10).map { 7 + $0 * 100_000_000 })
    }

    @Test("nothing is noticed early, and what is taken is what was due first, however late")
    func order() {
        var arrivals = ArrivalSchedule(profile, from: Instant(nanoseconds: 0), thread: 0, of: 1)
        #expect(arrivals.notice(by: Instant(nanoseconds: 0)) == Instant(nanoseconds: 0))
        #expect(arrivals.notice(by: Instant(nanoseconds: 99_999_999)) == nil)
        #expect(arrivals.next == Instant(nanoseconds: 100_000_000))
        let late = Instant(nanoseconds: 350_000_000)
        let first = arrivals.cursor
        while arrivals.notice(by: late) != nil {}
        var waiting = WaitingArrivals(from: first)
        waiting.notice(from: first, until: arrivals.noticed, at: late)
        #expect(waiting.count == 3)
        let taken = (0..<3).map { _ in waiting.take() }
        #expect(taken.map { $0?.due.nanoseconds } == [100_000_000, 200_000_000, 300_000_000])
        #expect(taken.map { $0?.number } == [1, 2, 3] && taken.allSatisfy { $0?.noticed == late })
        #expect(waiting.take() == nil && waiting.next == .never)
    }

    @Test(
        "requests due within a tenth of a millisecond are found together, and other requests each alone",
        arguments: [(50_000, 5), (20_000, 2), (10_000, 1), (1_000, 1)] as [(UInt64, Int)]
    )
    func looks(rate: UInt64, together: Int) {
        let profile = LoadProfile(rate: Rate(perSecond: rate), duration: 50_000_000)
        var arrivals = ArrivalSchedule(profile, from: Instant(nanoseconds: 7), thread: 0, of: 1)
        var looks: [Int] = []
        while arrivals.nextLook != .never {
            // As late as a sleeper wakes: the looks keep to their times all the same.
            let now = arrivals.nextLook.advanced(byNanoseconds: 3_000)
            let early = arrivals.nextLook.advanced(byNanoseconds: -1)
            let answers = [early, now, now].map { arrivals.look($0) }
            #expect(answers == [false, true, false])
            var count = 0
            while let due = arrivals.notice(by: now) {
                #expect(now.nanoseconds(since: due) <= ArrivalSchedule.grain + 3_000)
                count += 1
            }
            looks.append(count)
        }
        #expect(looks.reduce(0, +) == Int(rate / 20))
        #expect(looks.dropFirst().dropLast().allSatisfy { $0 == together }, "\(looks)")
    }

    @Test("by chance gaps are those of a Poisson process, the same for the same seed, and as many as the rate says")
    func chance() {
        let profile = LoadProfile(rate: Rate(perSecond: 1_000), duration: 20_000_000_000)
        let times = { (seed: UInt64, thread: Int) in
            var arrivals = ArrivalSchedule(
                profile,
                from: Instant(nanoseconds: 5),
                thread: thread,
                of: 2,
                random: RandomStream(seed: seed, stream: thread)
            )
            var all: [Int64] = []
            let (first, end) = (arrivals.cursor, Instant(nanoseconds: 30_000_000_000))
            while let due = arrivals.notice(by: end) { all.append(due.nanoseconds) }
            // What is taken is what was noticed.
            var waiting = WaitingArrivals(from: first)
            waiting.notice(from: first, until: arrivals.noticed, at: end)
            var taken: [Int64] = []
            while let request = waiting.take() { taken.append(request.due.nanoseconds) }
            #expect(all == taken && arrivals.next == .never)
            return all
        }
        let (one, other) = (times(1, 0), times(1, 1))
        #expect(one == times(1, 0) && one != times(2, 0) && one != other)
        let all = (one + other).sorted()
        // Twenty thousand, and its root is 141.
        #expect(abs(all.count - 20_000) < 600, "\(all.count)")
        let gaps = zip(all, all.dropFirst()).map { Double($1 - $0) / 1e6 }
        for limit in [0.1, 0.5, 1, 2, 3] {
            let share = Double(gaps.count { $0 > limit }) / Double(gaps.count)
            #expect(abs(share - exp(-limit)) < 0.02, "\(limit) \(share)")
        }
        var crowd = ArrivalSchedule(
            profile,
            from: Instant(nanoseconds: 5),
            thread: 0,
            of: 2,
            random: RandomStream(seed: 1, stream: 0)
        )
        var (noticed, dropped): (UInt64, UInt64) = (0, 0)
        let (first, now) = (crowd.cursor, Instant(nanoseconds: 30_000_000_000))
        crowd.noticeCrowd(by: now) { noticed += $1 }
        var waiting = WaitingArrivals(from: first)
        waiting.notice(from: first, until: crowd.noticed, at: now)
        waiting.takeAll { dropped += $1 }
        #expect(noticed == UInt64(one.count) && dropped == noticed && waiting.count == 0)
    }

    @Test("of requests that wait it is known when they were noticed, and of very many nearly")
    func noticed() {
        var looks = Looks()
        #expect(looks.time(of: 0) == nil)
        // Three requests a look.
        for look in 0..<1_000 {
            for index in 0..<3 { looks.noticed(from: UInt64(look * 3 + index), at: Instant(nanoseconds: Int64(look))) }
        }
        #expect(looks.count == 1_000)
        #expect([0, 2, 3, 1_500, 2_999].map { looks.time(of: $0)?.nanoseconds } == [0, 0, 1, 500, 999])
        var many = Looks()
        for look in 0..<100_000 { many.noticed(from: UInt64(look), at: Instant(nanoseconds: Int64(look))) }
        #expect(many.count <= Looks.limit)
        for index in stride(from: 0, to: 100_000, by: 997) {
            let time = many.time(of: UInt64(index))?.nanoseconds ?? -1
            #expect(time <= index && time > index - 64, "\(index) \(time)")
        }
    }

    @Test("after a look that came late the next is no later for it")
    func lateLook() {
        let profile = LoadProfile(rate: Rate(perSecond: 50_000), duration: 50_000_000)
        var arrivals = ArrivalSchedule(profile, from: Instant(nanoseconds: 0), thread: 0, of: 1)
        let late = Instant(nanoseconds: 9_990_000)
        let isTime = arrivals.look(late)
        #expect(isTime)
        while arrivals.notice(by: late) != nil {}
        #expect(arrivals.nextLook == Instant(nanoseconds: 10_000_000))
        var exact = ArrivalSchedule(profile, from: Instant(nanoseconds: 0), thread: 0, of: 1, grain: 0)
        _ = exact.look(Instant(nanoseconds: 0))
        _ = exact.notice(by: Instant(nanoseconds: 0))
        #expect(exact.nextLook == Instant(nanoseconds: 20_000))
    }

    @Test("a crowd is noticed and taken as it would be one by one, in parts", arguments: [nil, 30_001] as [UInt64?])
    func crowd(limit: UInt64?) {
        let profile = LoadProfile(rate: Rate(perSecond: 1_000_000_000), duration: 100_000)
        var (single, crowd) = (LatencyHistogram(), LatencyHistogram())
        let now = Instant(nanoseconds: 90_000)
        for thread in 0..<3 {
            var one = ArrivalSchedule(profile, from: Instant(nanoseconds: 7), thread: thread, of: 3, limit: limit)
            var many = one
            let first = many.cursor
            while let due = one.notice(by: now) { single.record(UInt64(now.nanoseconds - due.nanoseconds)) }
            var calls = 0
            many.noticeCrowd(by: now) { due, count in
                calls += 1
                crowd.record(UInt64(now.nanoseconds - due.nanoseconds), count: count)
            }
            #expect(many.noticed == one.noticed && many.next == one.next && calls < 1_100)
            var taken: UInt64 = 0
            var waiting = WaitingArrivals(from: first)
            waiting.notice(from: first, until: many.noticed, at: now)
            waiting.takeAll { _, count in taken += count }
            #expect(taken == one.noticed && waiting.count == 0 && waiting.take() == nil)
        }
        #expect(crowd.count == single.count)
        for percentile in [1.0, 50, 90, 99] {
            let (a, b) = (single.summary(percentiles: [percentile]), crowd.summary(percentiles: [percentile]))
            #expect(abs(Double(a?[percentile] ?? 0) - Double(b?[percentile] ?? 0)) < 300)
        }
    }

    @Test("a limit by count ends it, whatever the profile still has")
    func limit() {
        var arrivals = ArrivalSchedule(profile, from: Instant(nanoseconds: 0), thread: 0, of: 1, limit: 2)
        while arrivals.notice(by: Instant(nanoseconds: .max - 1)) != nil {}
        #expect(arrivals.noticed == 2)
    }
}
