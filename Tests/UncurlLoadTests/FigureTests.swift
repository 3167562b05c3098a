import Testing

@testable import UncurlLoad

/// The table of what a run counts.
@Suite("Figures")
struct FigureTests {
    @Test("every count and all times have one row with a tag, and no two of a part share a tag")
    func tags() {
        let tagged = Figure.all.filter { $0.tag != nil }
        #expect(tagged.compactMap(\.count).count == Count.allCases.count)
        #expect(Set(tagged.compactMap(\.count)) == Set(Count.allCases))
        #expect(tagged.compactMap(\.times).count == Times.allCases.count)
        #expect(Figure.times.compactMap(\.times) == Times.allCases)
        let tags = tagged.map { "\($0.section.part.rawValue) \($0.tag ?? "")" }
        #expect(Set(tags).count == tags.count, "\(tags)")
    }

    @Test("no two rows have the same member, word in conditions or sample")
    func distinct() {
        #expect(Set(Figure.all).count == Figure.all.count)
        for names in [
            Figure.judgeable.compactMap(\.condition),
            Figure.all.compactMap { figure in figure.metric.map { "\($0) \(figure.label?.value ?? "")" } },
        ] {
            #expect(Set(names).count == names.count, "\(names)")
        }
    }

    @Test("metrics have room for every count and all times, each apart from the others")
    func room() {
        var metrics = Metrics()
        for count in Count.allCases { metrics[count] = UInt64(count.rawValue) + 1 }
        for times in Times.allCases { metrics[times].record(UInt64(times.rawValue), count: 2) }
        metrics.merge(metrics)
        for count in Count.allCases { #expect(metrics[count] == (UInt64(count.rawValue) + 1) * 2) }
        for times in Times.allCases {
            #expect(metrics[times].count == 4 && metrics[times].maximum == UInt64(times.rawValue))
        }
    }
}
