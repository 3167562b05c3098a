import Foundation
import Testing
import UncurlHTTP1
import UncurlTestServer

@testable import URLLoading

@Suite("Folded values of a request's fields", .timeLimit(.minutes(5)))
struct FoldedValuesTests {
    @Test(
        "a fold is kept in the request, and sent as one space",
        arguments: [
            ("a\r\n b", "a b"), ("a \t\r\n \t b", "a b"), ("a\r\n \r\n\tb", "a b"), ("a\r\n b\r\n c", "a b c"),
            ("\r\n a", "a"), ("a\r\n ", "a"), ("é\r\n ü", "é ü"),
        ]
    )
    func fold(value: String, sent: String) {
        var request = URLRequest(url: URL(string: "http://a.example")!)
        request.setValue(value, forHTTPHeaderField: "x-long")
        #expect(request.value(forHTTPHeaderField: "X-LONG") == value)
        #expect(request.allHTTPHeaderFields == ["X-Long": value])
        #expect(request.values.fields?["X-Long"] == sent)

        var other = URLRequest(url: URL(string: "http://a.example")!)
        other.allHTTPHeaderFields = ["X-Long": value]
        #expect(other.allHTTPHeaderFields == ["X-Long": value])
        #expect(other.values.fields?["X-Long"] == sent)
    }

    @Test("an added value is appended to the folded one; setting another value or nil replaces it")
    func changes() {
        let request = NSMutableURLRequest(url: URL(string: "http://a.example")!)
        request.setValue("a\r\n b", forHTTPHeaderField: "X-Long")
        request.addValue("c", forHTTPHeaderField: "x-long")
        #expect(request.value(forHTTPHeaderField: "X-Long") == "a\r\n b,c")
        request.setValue("a b,c", forHTTPHeaderField: "X-Long")
        #expect(request.value(forHTTPHeaderField: "X-Long") == "a b,c")
        request.setValue("a\r\n b", forHTTPHeaderField: "X-Long")
        request.setValue(nil, forHTTPHeaderField: "X-Long")
        #expect(request.value(forHTTPHeaderField: "X-Long") == nil)
    }

    @Test("a refused value leaves the folded one unchanged")
    func refused() {
        var request = URLRequest(url: URL(string: "http://a.example")!)
        request.setValue("a\r\n b", forHTTPHeaderField: "X-Long")
        request.setValue("a\r\nEvil: 1", forHTTPHeaderField: "X-Long")
        request.setValue("a\u{0}", forHTTPHeaderField: "X-Long")
        #expect(request.value(forHTTPHeaderField: "X-Long") == "a\r\n b")
    }

    @Test("a server gets one line")
    func sent() async throws {
        let server = try TestServer.start()
        var request = URLRequest(url: URL(string: server.url("/headers"))!)
        request.setValue("one\r\n   two", forHTTPHeaderField: "X-Long")
        let (data, _) = try await URLSession(configuration: .isolated).data(for: request)
        #expect(String(decoding: data, as: UTF8.self).contains("\"one two\""))
    }

    @Test("a task whose request was given CR, LF or NUL in a field fails with the field's name, and nothing is sent")
    func refusedTask() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        for value in ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\u{0}"] {
            var request = URLRequest(url: URL(string: server.url("/headers"))!)
            request.setValue(value, forHTTPHeaderField: "X-Note")
            for load in [
                { _ = try await session.data(for: $0) }, { _ = try await session.download(for: $0) },
                { _ = try await session.bytes(for: $0) }, { _ = try await session.upload(for: $0, from: Data()) },
            ] as [(URLRequest) async throws -> Void] {
                let error = await #expect(throws: URLError.self) { try await load(request) }
                let reason = (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription
                #expect(error?.code == .badURL && reason?.contains("X-Note") == true)
            }
        }
        #expect(server.requestCount == 0)
        var mended = URLRequest(url: URL(string: server.url("/headers"))!)
        mended.setValue("a\nb", forHTTPHeaderField: "X-Note")
        mended.setValue("good", forHTTPHeaderField: "x-note")
        let (data, _) = try await session.data(for: mended)
        #expect(String(decoding: data, as: UTF8.self).contains("\"good\""))
    }
}
