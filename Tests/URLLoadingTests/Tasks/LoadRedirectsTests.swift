import Foundation
import ScriptedPeer
import Testing

@testable import URLLoading

@Suite("Redirects of a task", .timeLimit(.minutes(5)))
struct LoadRedirectsTests {
    private static let found = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
    private static let fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test("a redirect to the same URL is followed, and another answer from there is the answer")
    func toItself() async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send(Self.found + "Location: /a\r\n\r\n"), .receive(.headEnd),
                .send(Self.found + "Location: /a\r\n\r\n"), .receive(.headEnd), .send(Self.fine),
            ]
        ])
        let (data, response) = try await URLSession(configuration: .isolated).data(from: url(server.url("/a")))
        #expect(data == Data("ok".utf8) && (response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test("of redirects without end twenty are followed; the delegate is not asked about the next one")
    func endless() async throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.found + "Location: /a\r\n\r\n"), .startOver]
        ])
        let recorder = Recorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: try url(server.url("/a"))).resume()
        await recorder.end()
        #expect(recorder.events.count { $0 == "redirect 302" } == 20)
        #expect(recorder.events.last == "end \(URLError.Code.httpTooManyRedirects.rawValue)")
        let heads = String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "\r\n\r\n")
        #expect(heads.count { $0.hasPrefix("GET /a ") } == 21)
        session.invalidateAndCancel()
    }

    @Test("an answer with an empty Location is the answer")
    func empty() async throws {
        let head = "HTTP/1.1 302 Found\r\nContent-Length: 4\r\nLocation: \r\n\r\nbody"
        let server = try RawServer.start([[.receive(.headEnd), .send(head)]])
        let (data, response) = try await URLSession(configuration: .isolated).data(from: url(server.url("/a")))
        #expect(data == Data("body".utf8) && (response as? HTTPURLResponse)?.statusCode == 302)
    }

    @Test("a folded field of an answer is read, with each fold as one space")
    func folded() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Long: one\r\n two \r\n\t three\r\n\r\nok"
        let server = try RawServer.start([[.receive(.headEnd), .send(head)]])
        let (data, response) = try await URLSession(configuration: .isolated).data(from: url(server.url("/a")))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Long") == "one two three")
        #expect(data == Data("ok".utf8))
    }

    @Test("the content of an upload does not follow a redirect that the delegate makes a GET")
    func madeGet() async throws {
        let temporary = "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: /next\r\n\r\n"
        let server = try RawServer.start([
            [.receive(.request), .send(temporary), .receive(.request), .send(Self.fine)]
        ])
        var answers = Recorder.Answers()
        answers.redirect = { $0.url.map { URLRequest(url: $0) } }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/first")))
        request.httpMethod = "POST"
        session.uploadTask(with: request, from: Data("content".utf8)).resume()
        await recorder.end()
        #expect(recorder.told.error == nil && recorder.told.data == Data("ok".utf8))
        let requests = server.connections[0].receivedText.components(separatedBy: "content")
        #expect(requests.count == 2 && requests[1].hasPrefix("GET /next HTTP/1.1\r\n"))
    }
}
