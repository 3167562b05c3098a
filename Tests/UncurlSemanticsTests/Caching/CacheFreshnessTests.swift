import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Freshness")
struct CacheFreshnessTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    static let date: Int64 = 784_111_777

    private func freshness(
        _ response: HTTPFields,
        status: Int = 200,
        requested: Int64 = date,
        received: Int64 = date,
        now: Int64 = date,
        usesHeuristics: Bool = true
    ) -> CacheFreshness {
        let record = CacheRecord(varying: [], requested: requested, received: received)
        let exchange = StoredExchange(status: status, fields: response, record: record)
        return CacheFreshness(exchange, CacheControl(response), now: now, usesHeuristics: usesHeuristics)
    }

    private static let dated = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")

    @Test("max-age comes before Expires, and s-maxage is for others")
    func precedence() {
        let response = fields(
            Self.dated,
            ("Cache-Control", "max-age=60, s-maxage=5"),
            ("Expires", "Sun, 06 Nov 1994 08:59:37 GMT")
        )
        #expect(freshness(response).lifetime == 60)
    }

    @Test(
        "Expires counts from Date; what is no date is the past",
        arguments: [
            ("Sun, 06 Nov 1994 08:59:37 GMT", 600), ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("0", 0), ("-1", 0),
            ("tomorrow", 0), ("", 0), ("Sunday, 06-Nov-94 08:59:37 GMT", 600), ("Sun Nov  6 08:59:37 1994", 600),
        ]
    )
    func expires(value: String, lifetime: Int64) {
        let response = fields(Self.dated, ("Expires", value), ("Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT"))
        #expect(freshness(response).lifetime == lifetime)
    }

    @Test("without Date, when it came counts; several Expires that differ are none")
    func oddities() {
        let alone = fields(("Expires", "Sun, 06 Nov 1994 08:59:37 GMT"))
        #expect(freshness(alone).lifetime == 600)
        let two = fields(
            Self.dated,
            ("Expires", "Sun, 06 Nov 1994 08:59:37 GMT"),
            ("Expires", "Sun, 06 Nov 1994 09:59:37 GMT")
        )
        #expect(freshness(two).lifetime == 0)
    }

    @Test(
        "an invalid or doubled max-age makes the response stale",
        arguments: ["max-age=x", "max-age=1, max-age=2"]
    )
    func invalid(line: String) {
        let response = fields(Self.dated, ("Cache-Control", line), ("Expires", "Sun, 06 Nov 1994 08:59:37 GMT"))
        #expect(freshness(response).lifetime == 0)
    }

    @Test("a tenth of the time since it changed is guessed, for the statuses that allow it, up to a week")
    func heuristic() {
        let day = fields(Self.dated, ("Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT"))
        #expect(freshness(day).lifetime == 8640)
        #expect(freshness(day, usesHeuristics: false).lifetime == 0)
        #expect(freshness(day, status: 404).lifetime == 8640)
        #expect(freshness(day, status: 302).lifetime == 0)
        #expect(freshness(day, status: 500).lifetime == 0)
        let years = fields(Self.dated, ("Last-Modified", "Sat, 05 Nov 1970 08:49:37 GMT"))
        #expect(freshness(years).lifetime == 604_800)
        let future = fields(Self.dated, ("Last-Modified", "Sun, 06 Nov 1994 09:49:37 GMT"))
        #expect(freshness(future).lifetime == 0)
    }

    @Test(
        "the age is what RFC 9111 §4.2.3 computes",
        arguments: [
            // Age, requested, received and now after the date; the age.
            ("0", 0, 0, 0, 0), ("0", 0, 0, 10, 10), ("5", 0, 0, 10, 15), ("5", 0, 3, 10, 15), ("0", 7, 7, 10, 10),
            ("100", 2, 4, 10, 108), ("x", 0, 0, 10, 10), ("-5", 0, 0, 10, 10), ("5, 99", 0, 0, 10, 15),
            ("99999999999999999999", 0, 0, 10, 1 << 31),
            // Clocks set back.
            ("0", -60, -60, -60, 0), ("0", 0, 0, -100, 0), ("0", 50, 0, 0, 0),
        ]
    )
    func age(stated: String, requested: Int64, received: Int64, now: Int64, expected: Int64) {
        let found = freshness(
            fields(Self.dated, ("Age", stated)),
            requested: Self.date + requested,
            received: Self.date + received,
            now: Self.date + now
        )
        #expect(found.age == expected)
    }

    @Test("no time, however wrong, traps", arguments: [Int64.min, -1, 0, .max], [Int64.min, 0, .max])
    func extremes(received: Int64, now: Int64) {
        let found = freshness(
            fields(Self.dated, ("Age", "2147483648"), ("Cache-Control", "max-age=2147483648")),
            requested: .min,
            received: received,
            now: now
        )
        #expect(found.age >= 0 && found.age <= 1 << 31)
    }

    @Test("fresh is younger than the lifetime, not as old")
    func border() {
        let response = fields(Self.dated, ("Cache-Control", "max-age=10"))
        #expect(freshness(response, now: Self.date + 9).isFresh)
        #expect(!freshness(response, now: Self.date + 10).isFresh)
        #expect(freshness(response, now: Self.date + 13).staleness == 3)
    }
}
