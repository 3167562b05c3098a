import Testing

@testable import UncurlLoad

/// The machine that says what is next in a visit.
@Suite("Visits of a scenario")
struct ScenarioVisitTests {
    private func visit(_ parts: [ScenarioPart], seed: UInt64 = 1) -> [String] {
        var visit = ScenarioVisit(Scenario(name: "visit", weight: 1, parts))
        var random = RandomStream(seed: seed, stream: 0)
        var course: [String] = []
        while true {
            let next = visit.next(&random)
            if next.pause > 0 { course.append("rest \(next.pause)") }
            guard let step = next.step else { return course }
            course.append("\(step)")
        }
    }

    @Test("steps come in order, loops in loops as often as they say, and pauses add up")
    func order() {
        #expect(visit([.step(0), .pause(.fixed(5)), .pause(.fixed(2)), .step(1)]) == ["0", "rest 7", "1"])
        let inner = ScenarioPart.loop(2, [.step(1)])
        #expect(visit([.step(0), .loop(2, [inner, .step(2)]), .step(3)]) == ["0", "1", "1", "2", "1", "1", "2", "3"])
        #expect(visit([.step(0), .pause(.fixed(9))]) == ["0", "rest 9"])
        #expect(visit([.loop(1, [.step(4)])]) == ["4"])
    }

    @Test("of several ways each is taken by its weight, and then the visit goes on")
    func choice() {
        let ways: [ScenarioPart.Way] = [(3, [.step(0), .step(1)]), (1, [])]
        let courses = (0..<2_000).map { visit([.choice(ways), .step(2)], seed: UInt64($0)) }
        #expect(courses.allSatisfy { $0 == ["0", "1", "2"] || $0 == ["2"] })
        #expect((1_400...1_600).contains(courses.count { $0.count == 3 }))
    }

    @Test("the fewest requests of a visit are known, so that none begins again for ever")
    func least() {
        let empty = ScenarioPart.Way(1, [])
        let one = ScenarioPart.Way(1, [.step(0)])
        #expect(ScenarioPart.leastRequests([.choice([empty, one]), .pause(.fixed(1))]) == 0)
        #expect(ScenarioPart.leastRequests([.choice([one, one]), .loop(3, [.step(1)])]) == 2)
    }
}
