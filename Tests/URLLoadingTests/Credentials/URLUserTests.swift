import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

@Suite("User and password in a URL", .timeLimit(.minutes(5)))
struct URLUserTests {
    private static let ok = RawStep.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private static func refusal(_ challenge: String) -> RawStep {
        .send("HTTP/1.1 401 No\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 2\r\n\r\nno")
    }

    private static func script(_ answers: RawStep...) -> RawScript {
        RawScript(answers.flatMap { [.receive(.headEnd), $0] })
    }

    private func target(_ server: RawServer, _ user: String, _ path: String = "/a/b") throws -> URL {
        try url(server.url(path).replacingOccurrences(of: "http://", with: "http://\(user)@"))
    }

    /// The values of Authorization in a connection's requests, decoded for Basic; "none" for a request without.
    private func sent(_ server: RawServer, _ index: Int = 0) -> [String] {
        let received = String(decoding: server.received(index), as: UTF8.self)
        return received.components(separatedBy: "\r\n\r\n").dropLast().map { head in
            let line = head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("authorization: ") }
            guard let value = line?.dropFirst("Authorization: ".count) else { return "none" }
            guard value.hasPrefix("Basic "), let words = Data(base64Encoded: String(value.dropFirst(6))) else {
                return String(value.prefix { $0 != " " })
            }
            return String(decoding: words, as: UTF8.self)
        }
    }

    @Test(
        "user and password are sent with the first request, decoded",
        arguments: [
            ("u:p", "u:p"), ("u", "u:"), (":p", ":p"), ("u%40h:p%3A%C3%BC", "u@h:p:ü"), ("a%3Ab:p", "none"),
        ]
    )
    func first(user: String, expected: String) async throws {
        let server = try RawServer.start([Self.script(Self.ok)])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        _ = try await session.data(from: target(server, user))
        #expect(sent(server) == [expected])
    }

    @Test("an Authorization field of the request or of the session is sent in their place", arguments: [true, false])
    func ownField(isOfRequest: Bool) async throws {
        let server = try RawServer.start([Self.script(Self.ok)])
        let configuration = URLSessionConfiguration.isolated
        if !isOfRequest { configuration.httpAdditionalHeaders = ["authorization": "Bearer t"] }
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try target(server, "u:p"))
        if isOfRequest { request.setValue("Bearer t", forHTTPHeaderField: "Authorization") }
        _ = try await session.data(for: request)
        #expect(sent(server) == ["Bearer"])
    }

    @Test("they follow a redirect within the origin, and no redirect to another")
    func redirects() async throws {
        let (server, other) = (try TestServer.start(), try TestServer.start())
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        func load(_ place: String) async throws -> (Data, Int?, [URLSessionTaskTransactionMetrics]) {
            let start = server.url("/redirect-to?url=\(place)").replacingOccurrences(of: "http://", with: "http://u:p@")
            let recorder = Recorder()
            let (data, response) = try await session.data(
                from: url(start.replacingOccurrences(of: "=http://u:p@", with: "=http://")),
                delegate: recorder
            )
            let status = (response as? HTTPURLResponse)?.statusCode
            return (data, status, recorder.told.metrics?.transactionMetrics ?? [])
        }
        for place in [server.url("/basic-auth/u/p"), "/basic-auth/u/p"] {
            let (_, status, transactions) = try await load(place)
            #expect(status == 200 && transactions.count == 2)
        }
        let (data, status, _) = try await load(other.url("/headers"))
        #expect(status == 200 && !String(decoding: data, as: UTF8.self).contains("Authorization"))
    }

    @Test("a refused password is sent once; the delegate is then asked for another, and none is proposed")
    func refused() async throws {
        let server = try RawServer.start([
            Self.script(Self.refusal("Basic realm=\"r\"")),
            Self.script(Self.refusal("Basic realm=\"r\""), Self.ok),
        ])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let (data, response) = try await session.data(from: target(server, "u:wrong"))
        #expect((response as? HTTPURLResponse)?.statusCode == 401 && data == Data("no".utf8))
        #expect(sent(server) == ["u:wrong"])
        let again = URLSession(configuration: .isolated)
        defer { again.invalidateAndCancel() }
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            guard challenge.previousFailureCount == 0, challenge.proposedCredential == nil else {
                return (.cancelAuthenticationChallenge, nil)
            }
            return (.useCredential, URLCredential(user: "u", password: "right", persistence: .none))
        }
        #expect(try await again.data(from: target(server, "u:wrong"), delegate: Recorder(answers)).0 == Data("ok".utf8))
        #expect(sent(server, 1) == ["u:wrong", "u:right"])
    }

    @Test("a server that asks for Digest gets the same user's Digest")
    func digest() async throws {
        let server = try RawServer.start([
            Self.script(Self.refusal("Digest realm=\"r\", nonce=\"n\", qop=\"auth\""), Self.ok)
        ])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        #expect(try await session.data(from: target(server, "u:p")).0 == Data("ok".utf8))
        #expect(sent(server) == ["u:p", "Digest"])
    }

    @Test("a WebSocket's handshake carries them")
    func webSocket() async throws {
        let server = try RawServer.start([[.receive(.headEnd), .close]])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let place = server.url("/").replacingOccurrences(of: "http://", with: "ws://u:p@")
        let task = session.webSocketTask(with: try url(place))
        task.resume()
        await #expect(throws: (any Error).self) { try await task.receive() }
        #expect(sent(server) == ["u:p"])
    }

    @Test("a stored answer is served to the same user alone")
    func cached() async throws {
        let kept = RawStep.send(
            "HTTP/1.1 200 OK\r\nCache-Control: private, max-age=600\r\nContent-Length: 2\r\n\r\nok"
        )
        let server = try RawServer.start([Self.script(kept, kept)])
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        for user in ["alice:p", "alice:p", "bob:p", "bob:p"] {
            _ = try await session.data(from: target(server, user))
        }
        #expect(sent(server) == ["alice:p", "bob:p"])
    }
}
