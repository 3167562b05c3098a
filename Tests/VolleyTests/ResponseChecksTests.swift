import TestSupport
import Testing
import UncurlEngine
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

@Suite("Checks of responses", .ownThread)
struct ResponseChecksTests {
    @Test("statuses are single, classes and ranges")
    func statuses() throws {
        let checks = try ResponseChecks(statuses: "200, 4xx,301-303", headers: [], body: nil)
        for code in [200, 400, 499, 301, 303] { #expect(checks.accepts(status: code)) }
        for code in [201, 300, 304, 500] { #expect(!checks.accepts(status: code)) }
        #expect(ResponseChecks().accepts(status: 204))
        for text in ["", "x", "1xx", "300-200", "200-300-400", "20x"] {
            #expect(throws: UsageError.self) { try ResponseChecks(statuses: text, headers: [], body: nil) }
        }
    }

    @Test("content is found wherever it is cut into pieces", arguments: ["aab", "abab", "x", "aaaaab"])
    func search(needle: String) {
        let search = ByteSearch(Array(needle.utf8))
        let text = Array("zzaaaabababaaaaaabxz".utf8)
        for cut in 0...text.count {
            var matched = 0
            for part in [text[..<cut], text[cut...]] {
                let bytes = Array(part)
                search.advance(&matched, over: bytes.span)
            }
            #expect(search.isFound(matched), "\(needle) cut at \(cut)")
        }
        var matched = 0
        let without = Array("zzzz".utf8)
        search.advance(&matched, over: without.span)
        #expect(!search.isFound(matched))
    }
}
