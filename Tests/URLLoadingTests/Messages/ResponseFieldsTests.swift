import Testing
import UncurlHTTP1

@testable import URLLoading

@Suite("ResponseFields")
struct ResponseFieldsTests {
    private func received(_ pairs: [(String, String)]) throws -> ResponseFields {
        var fields = HTTPFields()
        for (name, value) in pairs { try fields.append(name, value) }
        return .received(fields)
    }

    @Test("values of one name are joined in order, cookies too; cookies are also there line by line")
    func joined() throws {
        let fields = try received([
            ("set-cookie", "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT"), ("vary", "a"), ("Set-Cookie", "b=2"),
            ("VARY", "b"), ("x-a", "1"), ("X-A", "2"),
        ])
        #expect(fields["Vary"] == "a, b")
        #expect(fields["none"] == nil)
        #expect(
            fields.dictionary == [
                "Set-Cookie": "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2", "Vary": "a, b", "x-a": "1, 2",
            ]
        )
        let lines = fields.setCookieLines.map { String(decoding: $0, as: UTF8.self) }
        #expect(lines == ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "b=2"])
        #expect(try received([("a", "b")]).setCookieLines.isEmpty)
    }

    @Test("given fields keep their values, their names are spelled anew, and empty names are left out")
    func given() {
        let fields = ResponseFields(given: ["content-TYPE": "a\nb", "": "x", "x-y": "z", "www-authenticate": "w"])
        #expect(fields.dictionary == ["Content-Type": "a\nb", "x-y": "z", "WWW-Authenticate": "w"])
        #expect(fields["Content-type"] == "a\nb")
        #expect(fields["X-Y"] == "z")
        #expect(fields["WWW-AUTHENTICATE"] == "w")
        #expect(ResponseFields(given: ["set-cookie": "a=b, c=d"]).setCookieLines == [Array("a=b, c=d".utf8)[...]])
    }

    @Test("received and given fields with the same content are equal")
    func equality() throws {
        let left = try received([("etag", "x"), ("Vary", "a"), ("vary", "b")])
        #expect(left == ResponseFields(given: ["Etag": "x", "Vary": "a, b"]))
        #expect(left != ResponseFields(given: ["Etag": "x"]))
        #expect(try left == received([("etag", "x"), ("Vary", "a"), ("vary", "b")]))
    }

    @Test(
        "a length is a number of octets, or it is not known",
        arguments: [
            ("12", 12), ("0", 0), ("9223372036854775807", .max), ("9223372036854775808", -1), ("-1", -1), ("+1", -1),
            ("", -1), ("1 2", -1), ("0x1", -1),
        ] as [(String, Int64)]
    )
    func contentLength(text: String, length: Int64) throws {
        #expect(ResponseFields(given: ["content-length": text]).contentLength == length)
        #expect(try received([("Content-Length", text)]).contentLength == length)
    }

    @Test("equal lengths count once, and a transfer coding overrides them")
    func contentLengths() throws {
        #expect(try received([("Content-Length", "5"), ("content-length", "5")]).contentLength == 5)
        #expect(try received([("Content-Length", "5, 5")]).contentLength == 5)
        #expect(try received([("Content-Length", "5"), ("Transfer-Encoding", "chunked")]).contentLength == -1)
        #expect(try received([]).contentLength == -1)
    }
}
