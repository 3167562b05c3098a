import Testing
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct RequestDescriptionTests {
    private func request(
        method: String? = nil,
        headers: [String] = [],
        body: String? = nil
    ) throws(UsageError) -> RequestDescription {
        try orUsage(
            try RequestDescription(
                method: method,
                target: "/",
                hostField: "h",
                headers: headers,
                body: body.map { Array($0.utf8) }
            )
        )
    }

    @Test("a user's own Host replaces the URL's")
    func host() throws {
        #expect(try request(headers: ["A: 1"]).host == "h")
        let own = try request(headers: ["A: 1", "host: other"])
        #expect(own.host == "other")
        #expect(own.fields == [.init(name: "A", value: "1")])
    }

    @Test("spaces around a value are removed, spaces inside stay, and a value may be empty or any text")
    func values() throws {
        let fields = try request(headers: ["A:  x y \t", "B:", "C: é:z"]).fields
        #expect(fields.map(\.value) == ["x y", "", "é:z"])
    }

    @Test("a body makes the method POST, unless another is given; an empty body is not the same as none")
    func bodies() throws {
        #expect(try request().body == nil)
        #expect(try request(body: "abc").method == "POST")
        #expect(try request(body: "").body == [])
        #expect(try request(method: "GET", body: "abc").method == "GET")
    }

    @Test(
        "a field that would change the framing or the syntax is refused",
        arguments: [
            (
                "Content-Length: 3",
                "-H \"Content-Length\" is volley's own: the framing follows from --body or --body-file"
            ),
            (
                "TRANSFER-ENCODING: chunked",
                "-H \"TRANSFER-ENCODING\" is volley's own: the framing follows from --body or --body-file"
            ),
            (": x", "-H \": x\" has no usable name: letters, digits and !#$%&'*+-.^_`|~, then the colon"),
            ("A : x", "-H \"A : x\" has no usable name: letters, digits and !#$%&'*+-.^_`|~, then the colon"),
            ("A: x\r\nB: y", "-H \"A: x\\u{d}\\u{a}B: y\" has a control character in its value: leave it out"),
            ("A: \u{0}", "-H \"A: \\u{0}\" has a control character in its value: leave it out"),
            ("A", "-H \"A\" has no colon: write 'Name: value'"),
        ]
    )
    func refusedFields(header: String, message: String) {
        #expect(throws: UsageError(message)) { try request(headers: [header]) }
    }

    @Test("two Host fields, an empty method and CONNECT are refused")
    func refusedRequests() {
        #expect(throws: UsageError("-H sets Host twice: a request has exactly one")) {
            try request(headers: ["Host: a", "host: b"])
        }
        #expect(throws: UsageError("--method \"\" is not a method: use a token such as GET or POST")) {
            try request(method: "")
        }
        #expect(
            throws: UsageError("--method CONNECT opens a tunnel and has no response to measure: use another method")
        ) { try request(method: "CONNECT") }
    }
}
