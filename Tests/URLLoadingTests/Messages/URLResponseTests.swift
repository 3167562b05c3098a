import Foundation
import Testing

@testable import URLLoading

@Suite("URLResponse")
struct URLResponseTests {
    private let url = URL(string: "http://host.test/a.txt")!

    private func response(
        _ mimeType: String? = "text/plain",
        _ length: Int = 5,
        _ encoding: String? = "utf-8"
    )
        -> URLResponse
    {
        URLResponse(url: url, mimeType: mimeType, expectedContentLength: length, textEncodingName: encoding)
    }

    @Test("it holds what it was given, and suggests the URL's last part as a name")
    func properties() {
        #expect(response().url == url)
        #expect(response().mimeType == "text/plain")
        #expect(response().expectedContentLength == 5)
        #expect(response().textEncodingName == "utf-8")
        #expect(response().suggestedFilename == "a.txt")
        #expect(response(nil, -1, nil).mimeType == nil)
    }

    @Test("its copy is itself")
    func copy() {
        let response = response()
        #expect(response.copy() as? URLResponse === response)
    }

    @Test("equality compares URL, length, type and encoding")
    func equality() {
        #expect(response() == response())
        #expect(response().hash == response().hash)
        #expect(response() != response("text/html"))
        #expect(response() != response("text/plain", 6))
        #expect(response() != response("text/plain", 5, nil))
        #expect(!response().isEqual(url))
    }

    @Test("an archive brings all properties back")
    func archive() throws {
        for response in [response(), response(nil, -1, nil)] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
            let copy = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: URLResponse.self, from: data))
            #expect(copy == response)
            #expect(copy.suggestedFilename == "a.txt")
        }
    }

    @Test("a response is made without arguments")
    func empty() {
        let response = URLResponse()
        #expect(response.url == nil && response.mimeType == nil && response.textEncodingName == nil)
        #expect(response.expectedContentLength == -1 && response.suggestedFilename == "Unknown")
        #expect(response == URLResponse())
    }

    @Test("an archive may be forged: a path in it is no name, and without a URL it is none of ours")
    func forged() throws {
        func decode(_ fill: (NSKeyedArchiver) -> Void) throws -> URLResponse? {
            let coder = NSKeyedArchiver(requiringSecureCoding: true)
            fill(coder)
            coder.finishEncoding()
            let decoder = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
            decoder.requiresSecureCoding = true
            return URLResponse(coder: decoder)
        }
        #expect(try decode { _ in } == nil)
        for (name, kept) in [
            ("../../etc/passwd", "passwd"), ("/a/b/name", "name"), ("a/.b", "_b"), ("/", "Unknown"), ("..", "Unknown"),
        ] {
            let response = try decode {
                $0.encode(url as NSURL, forKey: "NS.url")
                $0.encode(name as NSString, forKey: "NS.suggestedFilename")
            }
            #expect(response?.suggestedFilename == kept)
        }
    }
}
