import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Validation")
struct CacheValidationTests {
    private static let changed = "Sat, 05 Nov 1994 08:49:37 GMT"

    private func stored(_ fields: HTTPFields, status: Int = 200) -> StoredExchange {
        StoredExchange(status: status, fields: fields, record: CacheRecord(varying: [], requested: 10, received: 11))
    }

    @Test("the server is asked by tag and by date, as far as they are there")
    func conditions() {
        let both = CacheRule.conditions(fields(("ETag", "W/\"a\""), ("Last-Modified", Self.changed)))
        #expect(both.map(\.name) == ["If-None-Match", "If-Modified-Since"])
        #expect(both.map { String(decoding: $0.value, as: UTF8.self) } == ["W/\"a\"", Self.changed])
        #expect(
            CacheRule.conditions(fields(("Last-Modified", Self.changed))).map(\.name) == ["If-Modified-Since"]
        )
        #expect(CacheRule.conditions(fields()).isEmpty)
    }

    @Test("conditions and ranges of the caller's own are seen")
    func callersOwn() {
        for name in ["If-None-Match", "if-modified-since", "If-Match", "If-Unmodified-Since", "If-Range", "Range"] {
            #expect(CacheRule.isConditional(fields((name, "x"))), "\(name)")
        }
        #expect(!CacheRule.isConditional(fields(("Accept", "x"))))
    }

    @Test("a 304 brings the fields up to date, but for those of the content and the hop")
    func freshening() throws {
        let old = stored(
            fields(
                ("ETag", "\"a\""),
                ("Cache-Control", "max-age=1"),
                ("Content-Length", "5"),
                ("Content-Type", "text/a"),
                ("X-Kept", "1"),
                ("Warning", "old"),
                ("Age", "50"),
                ("Content-Encoding", "gzip")
            )
        )
        let news = fields(
            ("ETag", "\"a\""),
            ("cache-control", "max-age=9"),
            ("Content-Length", "0"),
            ("Content-Type", "text/b"),
            ("Link", "<1>"),
            ("Link", "<2>"),
            ("Connection", "close"),
            ("Content-Encoding", "br")
        )
        let new = try #require(CacheRule.freshened(old, by: news, requested: 20, received: 21))
        #expect(
            new.fields
                == fields(
                    ("Content-Length", "5"),
                    ("Content-Type", "text/a"),
                    ("X-Kept", "1"),
                    ("Warning", "old"),
                    ("Content-Encoding", "gzip"),
                    ("ETag", "\"a\""),
                    ("cache-control", "max-age=9"),
                    ("Link", "<1>"),
                    ("Link", "<2>")
                )
        )
        #expect(new.record.requested == 20 && new.record.received == 21)
    }

    @Test(
        "a 304 that speaks of another response freshens nothing",
        arguments: [
            (fields(("ETag", "\"a\"")), true), (fields(("ETag", "W/\"a\"")), true), (fields(("ETag", "\"b\"")), false),
            (fields(("Last-Modified", changed)), true),
            (fields(("Last-Modified", "Sat, 05 Nov 1994 09:49:37 GMT")), false), (fields(), true),
        ]
    )
    func another(notModified: HTTPFields, isSame: Bool) {
        let old = stored(fields(("ETag", "\"a\""), ("Last-Modified", Self.changed)))
        #expect((CacheRule.freshened(old, by: notModified, requested: 0, received: 0) != nil) == isSame)
    }

    @Test("a stored response with an old Date, freshened by a 304 without one, is as fresh as the 304")
    func dateless() throws {
        let old = StoredExchange(
            status: 200,
            fields: fields(
                ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ("ETag", "\"a\""),
                ("Cache-Control", "max-age=60")
            ),
            record: CacheRecord(varying: [], requested: CacheFreshnessTests.date, received: CacheFreshnessTests.date)
        )
        let received = CacheFreshnessTests.date + 1000
        let news = fields(("ETag", "\"a\""), ("Cache-Control", "max-age=60"))
        let new = try #require(CacheRule.freshened(old, by: news, requested: received, received: received))
        let freshness = CacheFreshness(new, CacheControl(new.fields), now: received)
        #expect(freshness.isFresh && freshness.age == 0)
        #expect(new.fields["Date"] == "Sun, 06 Nov 1994 09:06:17 GMT")
    }

    @Test("a tag where none was stored is another response's")
    func newTag() {
        let old = stored(fields(("Last-Modified", Self.changed)))
        #expect(CacheRule.freshened(old, by: fields(("ETag", "\"a\"")), requested: 0, received: 0) == nil)
    }

    @Test("HEAD brings what is stored up to date, or shows that it is no longer so")
    func head() {
        let old = stored(fields(("ETag", "\"a\""), ("Content-Length", "5"), ("Cache-Control", "max-age=1")))
        func effect(_ head: HTTPFields, status: Int = 200) -> String {
            switch CacheRule.effect(ofHead: head, status: status, on: old, requested: 1, received: 2) {
            case .none: "none"
            case .update(let new): "update \(new.fields["Cache-Control"] ?? "")"
            case .remove: "remove"
            }
        }
        let same = fields(("ETag", "\"a\""), ("Content-Length", "5"), ("Cache-Control", "max-age=9"))
        #expect(effect(same) == "update max-age=9")
        #expect(effect(same, status: 404) == "none")
        #expect(effect(fields(("ETag", "\"b\""))) == "remove")
        #expect(effect(fields(("ETag", "\"a\""), ("Content-Length", "6"))) == "remove")
        #expect(effect(fields(("Cache-Control", "max-age=9"))) == "none")
    }

    @Test(
        "entity tags compare as the table of RFC 9110 §8.8.3.2 has it",
        arguments: [
            ("W/\"1\"", "W/\"1\"", true), ("W/\"1\"", "W/\"2\"", false), ("W/\"1\"", "\"1\"", true),
            ("\"1\"", "\"1\"", true), ("w/\"1\"", "\"1\"", false), ("\"W/1\"", "\"1\"", false),
        ]
    )
    func tags(left: String, right: String, areEqual: Bool) {
        #expect(CacheRule.areWeaklyEqual(Array(left.utf8)[...], Array(right.utf8)[...]) == areEqual)
        #expect(CacheRule.areWeaklyEqual(Array(right.utf8)[...], Array(left.utf8)[...]) == areEqual)
    }

    @Test("tags that differ in their octets differ, also where they are one text in two spellings")
    func spellings() {
        let (whole, parts) = ("\"\u{E9}\"", "\"e\u{301}\"")
        let octets = (whole: Array(whole.utf8)[...], parts: Array(parts.utf8)[...])
        #expect(CacheRule.areWeaklyEqual(Array("W/".utf8) + octets.whole, octets.whole))
        #expect(!CacheRule.areWeaklyEqual(Array("W/".utf8) + octets.whole, octets.parts))
        let old = stored(fields(("Last-Modified", "\u{E9}"), ("X-A", "1")))
        let other = fields(("Last-Modified", "e\u{301}"))
        #expect(CacheRule.freshened(old, by: other, requested: 1, received: 2) == nil)
        if case .remove = CacheRule.effect(ofHead: other, status: 200, on: old, requested: 1, received: 2) {
        } else {
            Issue.record("the stored response is kept")
        }
    }
}
