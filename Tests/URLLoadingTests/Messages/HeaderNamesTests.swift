import Foundation
import Testing

@testable import URLLoading

@Suite("Field names")
struct HeaderNamesTests {
    @Test(
        "names are capitalised as Foundation capitalises words",
        arguments: [
            "content-type", "ETAG", "x-1ab", "a1.b", "a'b", "a1'b", "'a", "--a", "_a", "A", "", "a!b", "a~b", "aB1cD",
            "Sec-WebSocket-Key", "Accept",
        ]
    )
    func capitalized(name: String) {
        #expect(name.capitalizedFieldName == name.capitalized)
    }

    @Test("in a response, names that begin with X- stay as they are, and WWW-Authenticate keeps its abbreviation")
    func inResponse() {
        #expect("x-fOO".responseFieldName == "x-fOO")
        #expect("X-fOO".responseFieldName == "X-fOO")
        #expect("www-authenticate".responseFieldName == "WWW-Authenticate")
        #expect("XY".responseFieldName == "Xy")
    }

    @Test("names are compared without case, for ASCII letters alone")
    func equality() {
        #expect("ETag".isSameName(as: "etAG"))
        #expect(!"etag".isSameName(as: "etags"))
        #expect(!"[".isSameName(as: "{"))
        #expect(!"é".isSameName(as: "É"))
    }
}
