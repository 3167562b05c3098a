import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

@Suite("Load profile", .ownThread)
struct LoadProfileTests {
    private func profile(_ stages: [String]) throws -> LoadProfile {
        guard let profile = try StagePlan(stages).profile else { throw UsageError("no rates") }
        return profile
    }

    private func dues(_ profile: LoadProfile) -> [UInt64] {
        var stage = 0
        var all: [UInt64] = []
        while let due = profile.due(UInt64(all.count), from: &stage) { all.append(due) }
        return all
    }

    private let second: UInt64 = 1_000_000_000

    @Test(
        "the count at an instant is the number of requests due by then, in pauses and ramps too",
        arguments: ["1s@10", "1s@10,2s@0,1s@5", "1s@0,1s@7", "2s@9,linear,1s@0,linear,1s@3"]
    )
    func counts(stages: String) throws {
        let profile = try profile([stages])
        let all = dues(profile)
        for time in stride(from: 0, through: profile.duration + 7, by: 10_000_019) {
            #expect(profile.count(by: time) == UInt64(all.count { $0 <= time }), "\(time)")
        }
        for due in all {
            #expect(profile.count(by: due) == UInt64(all.count { $0 <= due }))
            if due > 0 { #expect(profile.count(by: due - 1) == UInt64(all.count { $0 < due })) }
        }
        let recorded = LoadProfile(recorded: [5, 9, 9, 30])
        #expect([0, 5, 8, 9, 29, 30, 99].map { recorded.count(by: $0) } == [0, 1, 1, 3, 3, 4, 4])
    }

    @Test("a constant rate is i / rate, to the nanosecond and for ever")
    func constant() throws {
        let profile = LoadProfile(rate: try Rate("3", for: ""), duration: 4 * second)
        let all = dues(profile)
        #expect(all.count == 12)
        #expect(profile.count == 12)
        for (index, due) in all.enumerated() { #expect(due == (UInt64(index) * second + 2) / 3) }
        let long = LoadProfile(rate: Rate(perSecond: 50_000), duration: LoadOptions.longest)
        var stage = 0
        #expect(long.due(50_000 * 86_400, from: &stage) == 86_400 * second)
    }

    @Test(
        "rate times time is the count, fractions too",
        arguments: [("1000", 30, 30_000), ("0.2", 11, 3), ("90/m", 2, 3), ("50k", 1, 50_000)]
            as [(String, UInt64, UInt64)]
    )
    func counts(rate: String, seconds: UInt64, count: UInt64) throws {
        let profile = LoadProfile(rate: try Rate(rate, for: ""), duration: seconds * second)
        #expect(profile.count == count)
        #expect(dues(profile).count == Int(count))
    }

    @Test("a ramp's requests lie where the integral of the rate reaches their number")
    func ramp() throws {
        // From 0 to 100/s in 2 s: the integral is 25 t², so request i is due at the root of i / 25.
        let profile = try profile(["2s@100,linear"])
        let all = dues(profile)
        #expect(all.count == 100)
        for (index, due) in all.enumerated() {
            let exact = (Double(index) / 25).squareRoot() * 1e9
            #expect(Double(due) >= exact - 1 && Double(due) <= exact + 2, "request \(index)")
        }
    }

    @Test("stages join without a gap, a double or a drift")
    func stages() throws {
        let profile = try profile(["1s@1.5", "2s@10,linear,1s@0", "1s@10,1s@0,linear"])
        #expect(profile.duration == 6 * second)
        let all = dues(profile)
        // 1.5 + 11.5 + 0 + 10 + 5 requests by the integral, the last one only reached at the end.
        #expect(all.count == 28)
        #expect(profile.count == 28)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
        #expect(!all.contains { (3 * second..<4 * second).contains($0) })
        // The request at the join waits for the stage that has one.
        #expect(all[13] == 4 * second)
        #expect(profile.peak == Rate(perSecond: 10))
    }

    @Test("looking up with a stage kept from before is looking up from the start")
    func cursor() throws {
        let profile = try profile(["100ms@1k,200ms@3k,linear,100ms@500,linear,100ms@70"])
        for (index, due) in dues(profile).enumerated() {
            var fresh = 0
            #expect(profile.due(UInt64(index), from: &fresh) == due)
        }
    }

    @Test(
        "a malformed stage is refused with a reason",
        arguments: [["30s"], ["linear"], ["1s@1k,linear,linear"], ["1s@x"], ["@1k"], ["1s@0"], ["700h@1,700h@1"], [""]]
    )
    func refused(texts: [String]) {
        #expect(throws: UsageError.self) { try profile(texts) }
    }
}
