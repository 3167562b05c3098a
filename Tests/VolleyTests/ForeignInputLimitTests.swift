import TestSupport
import Testing

@testable import UncurlLoad
@testable import volley

/// What one part of a file adds to each of its requests. Without a limit, a short file could make gigabytes of them.
@Suite("What the requests of other programs' files share", .ownThread)
struct ForeignInputLimitTests {
    private let long = String(repeating: "a", count: 30_000)

    private func collection(_ rest: String, _ request: String, count: Int) -> String {
        let requests = (0..<count).map { _ in request }.joined(separator: ",")
        return "{\"info\": {}, \(rest), \"item\": [{\"name\": \"f\", \"item\": [\(requests)]}]}"
    }

    @Test(
        "a Postman collection is refused if what its requests share makes them much longer than the file",
        arguments: [
            (#""variable": [{"key": "v", "value": "LONG"}]"#, #"{"request": "http://h/{{v}}"}"#),
            (#""variable": [{"key": "v", "value": "LONG"}]"#, #"{"request": {"url": "http://h/{{v}}{{v}}{{v}}"}}"#),
            (
                #""auth": {"type": "bearer", "bearer": [{"key": "token", "value": "LONG"}]}"#,
                #"{"request": {"url": "http://h/"}}"#
            ),
            (
                #""a": 1"#,
                #"{"request": {"url": {"raw": "/\#(String(repeating: ":i/", count: 99))", "variable": [{"key": "i", "value": "LONG"}]}}}"#
            ),
        ]
    )
    func postman(shared: String, request: String) throws {
        let text = collection(shared, request, count: 200).replacing("LONG", with: long)
        #expect { try drafts(.postman, text) } throws: { "\($0)".contains("are too long for so many requests") }
        let short = collection(shared, request, count: 200).replacing("LONG", with: "a")
        #expect(try drafts(.postman, short).count == 200)
    }

    @Test("a name in a Postman collection has no braces, so that the innermost ones enclose a variable")
    func braces() throws {
        let text = collection(
            #""variable": [{"key": "v", "value": "x"}]"#,
            #"{"request": "http://h/{{{v}}{{}}{v}"}"#,
            count: 1
        )
        #expect(try drafts(.postman, text).map(\.url) == ["http://h/%7Bx%7B%7B%7D%7D%7Bv%7D"])
    }
}
