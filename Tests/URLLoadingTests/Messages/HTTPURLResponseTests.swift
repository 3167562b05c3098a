import Foundation
import Testing
import UncurlHTTP1

@testable import URLLoading
@testable import UncurlClient

@Suite("HTTPURLResponse")
struct HTTPURLResponseTests {
    private let url = URL(string: "http://host.test/a")!

    private func given(_ fields: [String: String]?, status: Int = 200) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
    }

    private func received(_ text: String, isDecoded: Bool = false) throws -> HTTPURLResponse {
        var fields = HTTPFields()
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            try fields.append(String(parts[0]), String(parts[1]))
        }
        let head = try ResponseHead(status: 203, fields: fields)
        return HTTPURLResponse(LocatedHead(head, url.absoluteString, isDecoded: isDecoded), url)
    }

    @Test("a response that a program made has what its fields say")
    func fromDictionary() throws {
        let response = try given([
            "content-type": "text/HTML; charset=\"UTF-8\"", "CONTENT-LENGTH": "12", "x-a": "b",
            "content-disposition": "attachment; filename=\"a b/c.txt\"",
        ])
        #expect(response.url == url)
        #expect(response.statusCode == 200)
        #expect(response.mimeType == "text/html")
        #expect(response.textEncodingName == "utf-8")
        #expect(response.expectedContentLength == 12)
        #expect(response.suggestedFilename == "a b_c.txt")
        #expect(response.value(forHTTPHeaderField: "X-A") == "b")
        #expect(response.allHeaderFields["Content-Length"] as? String == "12")
        #expect(response.allHeaderFields.count == 4)
    }

    @Test(
        "of several Content-Types the last counts, with the charset of an equal one before it",
        arguments: [
            ("Content-Type: text/html; charset=x\nContent-Type: text/html; charset=x", "text/html", "x"),
            ("Content-Type: text/plain; charset=x, text/html", "text/html", nil),
            ("Content-Type: text/html; charset=x, text/html", "text/html", "x"),
            ("Content-Type: text/html; charset=x\nContent-Type: TEXT/html; charset=y", "text/html", "y"),
            ("Content-Type: text/html; charset=x, text/plain, text/html", "text/html", nil),
            ("Content-Type: text/html; x=\",text/plain\"; charset=z", "text/html", "z"),
            ("Content-Type: text/html, */*", "text/html", nil),
            ("Content-Type: application/json,", "application/json", nil),
            ("Content-Type: text/html, no type", "text/html", nil),
            ("Content-Type: a, b", "a, b", nil),
        ]
    )
    func severalTypes(fields: String, type: String, charset: String?) throws {
        let response = try received(fields.replacingOccurrences(of: ": ", with: ":"))
        #expect(response.mimeType == type && response.textEncodingName == charset)
    }

    @Test("without fields only the name in the URL is known")
    func withoutFields() throws {
        let response = try given(nil)
        #expect(response.allHeaderFields.isEmpty)
        #expect(response.mimeType == nil)
        #expect(response.textEncodingName == nil)
        #expect(response.expectedContentLength == -1)
        #expect(response.suggestedFilename == "a")
        #expect(try given(["Content-Type": ";charset=x"]).mimeType == nil)
    }

    @Test("a response from a server reads its fields when asked")
    func fromHead() throws {
        let response = try received(
            "content-type: application/json\nContent-Length: 7\nvary: a\nVary: b\nwww-authenticate: x"
        )
        #expect(response.statusCode == 203)
        #expect(response.mimeType == "application/json")
        #expect(response.expectedContentLength == 7)
        #expect(response.value(forHTTPHeaderField: "vary") == "a, b")
        #expect(
            response.allHeaderFields as? [String: String] == [
                "Content-Type": "application/json", "Content-Length": "7", "Vary": "a, b", "WWW-Authenticate": "x",
            ]
        )
        #expect(response.fields.setCookieLines.isEmpty)
    }

    @Test("content that is decoded on its way has an unknown length")
    func decoded() throws {
        let response = try received("Content-Length: 7\nContent-Encoding: gzip", isDecoded: true)
        #expect(response.expectedContentLength == -1)
        #expect(response.value(forHTTPHeaderField: "Content-Length") == "7")
    }

    @Test("equality compares status and fields too, wherever they come from and in both directions")
    func equality() throws {
        let response = try given(["A": "1", "Content-Type": "a/b"], status: 203)
        #expect(try response == received("a: 1\ncontent-type: a/b"))
        #expect(try response.hash == received("a: 1\ncontent-type: a/b").hash)
        #expect(try response != given(["A": "2", "Content-Type": "a/b"], status: 203))
        #expect(try response != given(["A": "1", "Content-Type": "a/b"], status: 200))
        let plain = URLResponse(url: url, mimeType: "a/b", expectedContentLength: -1, textEncodingName: nil)
        #expect(plain != response)
        #expect(response != plain)
    }

    @Test("an archive brings status and fields back")
    func archive() throws {
        for response in try [
            given(["A": "1", "Content-Type": "text/x; charset=y"], status: 404), received("b: 2\nB: 3"),
        ] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
            let copy = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResponse.self, from: data))
            #expect(copy == response)
            #expect(copy.statusCode == response.statusCode)
            #expect(copy.textEncodingName == response.textEncodingName)
            #expect(copy.value(forHTTPHeaderField: "b") == response.value(forHTTPHeaderField: "b"))
        }
    }

    @Test("an archive without a status holds no HTTP response")
    func archiveOfAnother() throws {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        coder.encode(url as NSURL, forKey: "NS.url")
        coder.finishEncoding()
        #expect(HTTPURLResponse(coder: try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)) == nil)
    }

    @Test("it describes itself with URL, status and sorted fields")
    func description() throws {
        let text = try given(["b": "2", "content-type": "t/t"]).description
        #expect(text.hasPrefix("<HTTPURLResponse 0x"))
        #expect(
            text.hasSuffix(
                "> { URL: http://host.test/a }{ status: 200, headers {\n   \"B\" = 2;\n   \"Content-Type\" = \"t/t\";\n} }"
            )
        )
    }

    @Test(
        "status codes have texts, and unknown ones have those of their class",
        arguments: [
            (200, "OK"), (404, "Not Found"), (199, "Informational"), (299, "Success"), (399, "Redirection"),
            (413, "Payload Too Large"), (422, "Unprocessable Entity"), (418, "Client Error"), (599, "Server Error"),
            (-1, "Server Error"), (.max, "Server Error"),
        ]
    )
    func statusText(code: Int, text: String) {
        #expect(HTTPURLResponse.localizedString(forStatusCode: code) == text)
    }
}
