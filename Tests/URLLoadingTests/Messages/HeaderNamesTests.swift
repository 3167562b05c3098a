import Foundation
import Testing

@testable import URLLoading

@Suite("HeaderNames")
struct HeaderNamesTests {
    @Test(
        "names are capitalised as Foundation capitalises words",
        arguments: [
            "content-type", "ETAG", "x-1ab", "a1.b", "a'b", "a1'b", "'a", "--a", "_a", "A", "", "a!b", "a~b", "aB1cD",
            "Sec-WebSocket-Key", "Accept",
        ]
    )
    func capitalized(name: String) {
        #expect(HeaderNames.capitalized(name) == name.capitalized)
    }

    @Test("in a response, names that begin with X- stay as they are, and WWW-Authenticate keeps its abbreviation")
    func inResponse() {
        #expect(HeaderNames.inResponse("x-fOO") == "x-fOO")
        #expect(HeaderNames.inResponse("X-fOO") == "X-fOO")
        #expect(HeaderNames.inResponse("www-authenticate") == "WWW-Authenticate")
        #expect(HeaderNames.inResponse("XY") == "Xy")
    }

    @Test("names are compared without case, for ASCII letters alone")
    func equality() {
        #expect(HeaderNames.areEqual("ETag", "etAG"))
        #expect(!HeaderNames.areEqual("etag", "etags"))
        #expect(!HeaderNames.areEqual("[", "{"))
        #expect(!HeaderNames.areEqual("é", "É"))
    }
}
