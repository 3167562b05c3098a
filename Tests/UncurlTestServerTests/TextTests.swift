import Testing
import UncurlText

@testable import UncurlTestServer

@Suite struct TextTests {
    @Test(
        "JSON text that RFC 8259 allows is read and written back",
        arguments: [
            ("null", "null"), (" [1 , -0.5e+3,\"\\u00e9\\n\"] ", "[1, -0.5e+3, \"é\\n\"]"),
            ("{\"b\":1,\"a\":{}}", "{\"a\": {}, \"b\": 1}"), ("\"\\ud83d\\ude80\"", "\"🚀\""),
            ("\"\\ud83d\"", "\"\u{FFFD}\""),
            ("{\"a\":1,\"a\":2}", "{\"a\": 2}"), ("\"\\u0001\\\"\\\\\\/\"", "\"\\u0001\\\"\\\\/\""), ("[]", "[]"),
            ("12345678901234567890.10", "12345678901234567890.10"),
        ]
    )
    func json(text: String, expected: String) {
        let value = try? JSONReader.read(Array(text.utf8), loneSurrogates: true)
        #expect(value.map { String(decoding: $0.serialized(pretty: false), as: UTF8.self) } == expected)
    }

    @Test(
        "text that is not JSON is refused, and no depth overflows the stack",
        arguments: [
            "", "{", "[1,]", "{\"a\"}", "{a:1}", "01", "1.", ".5", "+1", "1e", "tru", "\"\u{1}\"", "\"\\x\"", "[1] 2",
            "nan", "'a'",
            "\"", "\"\\u12\"", String(repeating: "[", count: 100_000),
        ]
    )
    func noJSON(text: String) {
        #expect(throws: JSONReader.Problem.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test(
        "values of one name are an array in their order, and many take no more than time in proportion",
        .timeLimit(.minutes(1))
    )
    func grouping() {
        let pairs = [Pair(name: "a", value: "1"), Pair(name: "b", value: "2"), Pair(name: "a", value: "3")]
        let expected = JSONTree.object(["a": .array([.string("1"), .string("3")]), "b": .string("2")])
        #expect(JSONTree.grouping(pairs) == expected)
        let many = JSONTree.grouping(Array(repeating: Pair(name: "id", value: "x"), count: 200_000))
        #expect(many["id"]?.elements?.count == 200_000)
    }

    @Test("octets that are not UTF-8 are refused as JSON")
    func invalidUTF8() {
        #expect(throws: JSONReader.Problem.self) { try JSONReader.read([0x22, 0xFF, 0x22]) }
    }

    @Test("a form's names and values are separated, and percent-encoding is undone once")
    func percent() {
        #expect(
            formPairs("a+b=c%26d&e&=f&&g=h=i") == [
                Pair(name: "a b", value: "c&d"), Pair(name: "e", value: ""), Pair(name: "", value: "f"),
                Pair(name: "g", value: "h=i"),
            ]
        )
    }

    @Test("parameters of a field value are found, quoted or not")
    func parameters() {
        let value = "Multipart/Form-Data ; charset=utf-8; Boundary=\"a;\\\"b\"; x"
        #expect(RouteResponse.essence(of: value) == "multipart/form-data")
        #expect(RouteResponse.parameter("boundary", of: value) == "a;\"b")
        #expect(RouteResponse.parameter("charset", of: value) == "utf-8")
        #expect(RouteResponse.parameter("x", of: value) == "")
        #expect(RouteResponse.parameter("y", of: value) == nil)
    }

    @Test(
        "a form whose parts do not end is refused",
        arguments: [
            "", "--b", "--b\r\n", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nopen", "--b--x",
            "no boundary at all",
        ]
    )
    func brokenForms(body: String) {
        let form = RouteResponse.multipart(Array(body.utf8), contentType: "multipart/form-data; boundary=b")
        #expect(form.map { $0.fields.isEmpty && $0.files.isEmpty } ?? true)
        #expect(RouteResponse.multipart(Array(body.utf8), contentType: "multipart/form-data") == nil)
    }

    @Test("a boundary has at most 70 characters")
    func longBoundary() {
        for length in [1, 70, 71] {
            let boundary = String(repeating: "-", count: length - 1) + "x"
            let body = "--\(boundary)\r\nContent-Disposition: form-data; name=a\r\n\r\n-\r\n--\(boundary)--"
            let form = RouteResponse.multipart(
                Array(body.utf8),
                contentType: "multipart/form-data; boundary=\(boundary)"
            )
            #expect(form?.fields == (length > 70 ? nil : [Pair(name: "a", value: "-")]))
            #expect(form?.files.isEmpty != false)
        }
    }

    @Test("an empty part and a part without a name are accepted")
    func emptyParts() {
        let body = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b\r\nX: y\r\n\r\nz\r\n--b--"
        let form = RouteResponse.multipart(Array(body.utf8), contentType: "multipart/form-data; boundary=b")
        #expect(form?.fields == [Pair(name: "a", value: "")])
        #expect(form?.files == [])
    }

    @Test("numbers are written in decimal and hexadecimal")
    func numbers() {
        var text: [UInt8] = []
        text.append(decimal: .max)
        text.append(decimal: 0)
        text.append(hex: 0xDEAD_BEEF_0)
        #expect(String(decoding: text, as: UTF8.self) == "184467440737095516150deadbeef0")
    }

    @Test("a delimiter counts, whatever combining mark is behind it")
    func marks() {
        var request = RouteRequest()
        request.fields = [Pair(name: "Cookie", value: "a=\u{301}b;\u{301}c=d; e=")]
        request.rawQuery = "a=1&a%CC%81=2"
        #expect(request.cookies.map(\.name) == ["a", "\u{301}c", "e"])
        #expect(request.cookies.map(\.value) == ["\u{301}b", "d", ""])
        #expect(request.argument("a\u{301}") == "2" && request.argument("\u{E1}") == nil)
        #expect(
            RouteResponse.essence(of: "Text/Html ;\u{301}") == "text/html"
                && RouteResponse.essence(of: "a/\u{301}").isEmpty
        )
        let body = "--B\r\nContent-Disposition:\u{301}; name=x\r\n\r\nv\r\n--B--"
        let form = RouteResponse.multipart(Array(body.utf8), contentType: "multipart/form-data; boundary=B")
        #expect(form?.fields == [Pair(name: "x", value: "v")])
        let names = JSONTree.grouping([Pair(name: "\u{E9}", value: "1"), Pair(name: "e\u{301}", value: "2")])
        guard case .object(let members) = names else { return #expect(Bool(false)) }
        #expect(members.count == 2)
    }

    @Test("the tags of a list, a range and a status are split at octets")
    func markedLists() {
        var request = RouteRequest()
        request.fields = [Pair(name: "If-None-Match", value: "\"\u{301}\",\u{301}, \"a\" ")]
        #expect(RouteResponse.etag(request, ["a"]).status == 304)
        #expect(RouteResponse.etag(request, ["\u{301}"]).status == 304)
        #expect(RouteResponse.etag(request, ["b"]).status == 200)
        #expect(RouteResponse.status(request, ["200,\u{301}"]).status == 400)
        #expect(RouteResponse.status(request, ["200:1,404:0"]).status == 200)
        request.fields = [Pair(name: "Range", value: "bytes=\u{301}-")]
        #expect(RouteResponse.range(request, ["9"]).status == 200)
        request.fields = [Pair(name: "Range", value: "bytes=1-2")]
        #expect(RouteResponse.range(request, ["9"]).status == 206)
    }
}
