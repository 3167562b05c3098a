import Foundation
import Testing

@testable import URLLoading

@Suite("data: URLs")
struct DataURLTests {
    private func read(_ text: String) throws -> String? {
        DataURL(try url(text)).map { String(decoding: $0.data, as: UTF8.self) }
    }

    @Test("type, charset and content are read, base64 with and without its padding")
    func content() throws {
        #expect(try read("data:,a%20b") == "a b")
        #expect(try read("data:text/plain;base64,YWI=") == "ab")
        #expect(try read("data:text/plain;base64,YWI") == "ab")
        #expect(try read("data:text/plain;base64,Y%20W%0AI%3D") == "ab")
        #expect(try read("data:text/plain,hello#part") == "hello")
        #expect(try read("data:;base64,YWI=#part") == "ab")
        #expect(try read("data:,a%23b") == "a#b")
        let rich = try #require(DataURL(url("data:Text/HTML;charset=utf-8,x")))
        #expect(rich.mimeType == "text/html" && rich.charset == "utf-8")
        let bare = try #require(DataURL(url("data:,x")))
        #expect(bare.mimeType == "text/plain" && bare.charset == nil)
        let typeless = try #require(DataURL(url("data:;charset=utf-8;charset=utf-16,x")))
        #expect(typeless.mimeType == "text/plain" && typeless.charset == "utf-8")
    }

    @Test(
        "escapes before the comma are refused",
        arguments: ["te%78t/a,x", "a/b;charset=iso-8859-%31,x", "a/b/c%3bcharset=utf-8,x", "%2cx", "text/plain%2c,x"]
    )
    func escapes(rest: String) throws {
        #expect(try read("data:\(rest)") == nil)
    }

    @Test(
        "a type that breaks RFC 6838's grammar is text/plain",
        arguments: [
            ("text/html", "text/html"), ("application/vnd.a+json", "application/vnd.a+json"), ("text", "text/plain"),
            ("text/", "text/plain"), ("/html", "text/plain"), ("text/a/b", "text/plain"), (".a/b", "text/plain"),
            ("a(/b", "text/plain"), ("a/b*", "text/plain"), ("!a/b", "text/plain"), ("a1!$&-_.+/b", "a1!$&-_.+/b"),
            ("a/" + String(repeating: "b", count: 127), "a/" + String(repeating: "b", count: 127)),
            ("a/" + String(repeating: "b", count: 128), "text/plain"),
        ]
    )
    func types(given: String, read: String) throws {
        #expect(try #require(DataURL(url("data:\(given),x"))).mimeType == read)
    }

    @Test(
        "what is not Base64 is refused: another alphabet, a stray octet, padding that ends nothing",
        arguments: [
            "A", "-_-_", "a=b", "YWI==", "YQ=", "YQ===", "=", "YWI%00", "YWI%C3%A9", "Y*WI", "YQ==YQ==", "YWJj=",
        ]
    )
    func refused(text: String) throws {
        #expect(try read("data:;base64,\(text)") == nil)
    }

    @Test("a URL without a comma is refused")
    func noComma() throws {
        #expect(try read("data:nothing") == nil)
    }

    @Test("a media type longer than eight kilobytes is refused, and nothing after it is read")
    func longType() throws {
        #expect(try read("data:" + String(repeating: ";", count: 8_000) + ",x") == "x")
        #expect(try read("data:" + String(repeating: ";", count: 9_000) + ",x") == nil)
    }
}
