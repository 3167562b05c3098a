import Testing

@testable import UncurlLoad

struct FailureTests {
    private let refused = Failure(.connect, .refused, errno: 111)
    private let late = Failure(.responseStart, .timeout)

    @Test("failures of one kind share a row with the first example, and first and last times")
    func rows() {
        var log = FailureLog()
        log.add(refused, at: 30, example: "first")
        log.add(refused, count: 2, at: 10, example: "second")
        log.add(refused, at: 20, example: "third")
        log.add(late, at: 5, example: "late")
        #expect(log.records[refused] == .init(count: 4, first: 10, last: 30, example: "first"))
        #expect(log.sorted.map(\.failure) == [refused, late])
        #expect(log.count { $0.kind == .timeout } == 1)
    }

    @Test("a merged log has the sums, the widest times and the earliest example")
    func merges() {
        var early = FailureLog()
        early.add(refused, at: 10, example: "early")
        var later = FailureLog()
        later.add(refused, count: 3, at: 90, example: "later")
        later.add(late, at: 50, example: "late")
        var merged = later
        merged.merge(early)
        early.merge(later)
        #expect(merged.records == early.records)
        #expect(merged.records[refused] == .init(count: 4, first: 10, last: 90, example: "early"))
    }

    @Test("a hostile server's many kinds of failure fill a table of fixed size, and none is lost")
    func bounded() {
        var log = FailureLog()
        for number in 0..<10_000 { log.add(Failure(.head, .malformed, detail: "\(number)"), at: 1, example: "x") }
        #expect(log.records.count <= FailureLog.limit + Phase.allCases.count)
        #expect(log.count { _ in true } == 10_000)
        var other = FailureLog()
        for number in 10_000..<20_000 {
            other.add(Failure(.head, .malformed, detail: "\(number)"), at: 1, example: "x")
        }
        log.merge(other)
        #expect(log.records.count <= FailureLog.limit + Phase.allCases.count)
        #expect(log.count { _ in true } == 20_000)
    }

    @Test("an example is made for the first failure of a kind only")
    func lazyExamples() {
        var made = 0
        func example() -> String {
            made += 1
            return "x"
        }
        var log = FailureLog()
        for _ in 0..<5 { log.add(refused, at: 1, example: example()) }
        #expect(made == 1)
    }
}
