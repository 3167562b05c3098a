import LoadTestSupport
import TestSupport
import Testing
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports

/// What a hostile or an unusual file costs.
@Suite("The time that files of reports take", .ownThread)
struct ReportTimeTests {
    private func report(_ members: [(String, JSONTree)], _ path: String) throws -> SavedReport {
        try SavedReport(.object([("volley", "1"), ("schema", .integer(2))] + members), path: path)
    }

    /// Two reports whose lists or objects have names of their own, each of `count`.
    private func pair(_ count: Int, _ member: (Range<Int>) -> (String, JSONTree)) throws -> (SavedReport, SavedReport) {
        (try report([member(0..<count)], "a"), try report([member(count..<2 * count)], "b"))
    }

    @Test("a comparison takes time in proportion to the number of names")
    func names() throws {
        let reports = { (count: Int) in
            try pair(count) { numbers in
                ("names", .array(numbers.map { .object([("name", .string("n\($0)"))]) }))
            }
        }
        try expectProportionalTime(from: 1_000, of: reports) { _ = try Comparison($0.0, $0.1, tolerance: 0) }
    }

    @Test("of several rows of one name a comparison takes the first")
    func sameNames() throws {
        let row = { (completed: UInt64) -> JSONTree in
            .object([("name", "a"), ("completed", .integer(completed))])
        }
        let old = try report([("names", .array([row(10), row(1)]))], "a")
        let new = try report([("names", .array([row(20), row(2)]))], "b")
        let metric = try #require(ThresholdMetric("completed{a}"))
        #expect(try Comparison(old, new, tolerance: 0).change(metric) == 1)
    }

    @Test("a comparison takes time in proportion to the number of kinds of errors")
    func errors() throws {
        let reports = { (count: Int) in
            try pair(count) { numbers in
                ("errors", .array(numbers.map { .object([("class", .string("c\($0)")), ("count", .integer(1))]) }))
            }
        }
        try expectProportionalTime(from: 1_000, of: reports) { _ = try Comparison($0.0, $0.1, tolerance: 0) }
    }

    @Test("a merge takes time in proportion to the number of members")
    func members() throws {
        let reports = { (count: Int) in
            let (old, new) = try pair(count) { numbers in
                ("x", .object(numbers.map { ("m\($0)", .integer(1)) }))
            }
            return (count: count, reports: [old, new])
        }
        try expectProportionalTime(from: 2_000, of: reports) { count, reports in
            let whole = try SavedReport.merged(reports)
            #expect(whole.document["x"]?.members?.count == 2 * count)
        }
    }

    @Test("texts of combining marks are compared by their octets")
    func combiningMarks() throws {
        for member in ["work", "mode"] {
            let saved = { (marks: String) in try report([("run", .object([(member, .string(marks))]))], "a") }
            try expectProportionalTime(ofMarks: saved) { _ = try $0.headline() }
            try expectProportionalTime(ofMarks: saved) { _ = try Comparison($0, $0, tolerance: 0) }
            try expectProportionalTime(ofMarks: saved) { _ = try SavedReport.merged([$0, $0]) }
        }
        for log in ["MARKS", "#MARKS", "0,MARKS,0,x", "MARKS,1,0,x", "Tag=MARKS,0,1,0,x"] {
            let marked = { (marks: String) in log.replacing("MARKS", with: marks) }
            expectProportionalTime(ofMarks: marked) { _ = try? HistogramLog.read($0, path: "p") }
        }
        let line = { HistogramLog.line(tag: $0, start: 0, length: 1, LatencyHistogram()) }
        try expectProportionalTime(ofMarks: line) { _ = try LogMerge([("p", HistogramLog.read($0, path: "p"))]).text }
    }

    @Test("a log's tag may begin with a combining mark")
    func markedTag() throws {
        let line = HistogramLog.line(tag: "\u{301}a", start: 0, length: 1, LatencyHistogram())
        #expect(try HistogramLog.read(line, path: "p").lines.map(\.tag) == ["\u{301}a"])
    }

    @Test("merged logs have as many tags as those of a run at most, each with its own sum, in their first order")
    func tags() throws {
        var histogram = LatencyHistogram()
        histogram.record(1_000)
        let log = { (numbers: Range<Int>) throws(UsageError) in
            let lines = numbers.map { HistogramLog.line(tag: "t\($0)", start: 0, length: 1_000_000_000, histogram) }
            return (path: "p", contents: try HistogramLog.read(lines.joined(), path: "p"))
        }
        let merge = try LogMerge([log(2..<LogMerge.tagLimit), log(0..<LogMerge.tagLimit)])
        #expect(merge.totals.count == LogMerge.tagLimit && merge.totals.map(\.tag).suffix(2) == ["t0", "t1"])
        #expect(merge.total("t0")?.count == 1 && merge.total("t2")?.count == 2 && merge.total("t") == nil)
        let again = try HistogramLog.read(merge.text, path: "p").lines
        #expect(again.map { $0.tag ?? "" } == merge.totals.map(\.tag))
        #expect(throws: UsageError.tooManyTags("p", limit: LogMerge.tagLimit)) {
            try LogMerge([log(0..<LogMerge.tagLimit), log(500..<501)])
        }
    }
}
