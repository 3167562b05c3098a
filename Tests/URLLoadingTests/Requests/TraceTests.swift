import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine

@testable import URLLoading

/// RFC 9110 §9.3.8: the answer to a TRACE repeats the request.
@Suite("TRACE", .timeLimit(.minutes(5)))
struct TraceTests {
    private static let challenge =
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\nSet-Cookie: who=me\r\nContent-Length: 0\r\n\r\n"

    private func server(_ answers: [String]) throws -> RawServer {
        try RawServer.start([RawScript(answers.flatMap { [.receive(.headEnd), .send($0)] })])
    }

    private func session() -> URLSession {
        var answers = Recorder.Answers()
        answers.challenge = { _ in (.useCredential, URLCredential(user: "u", password: "p", persistence: .forSession)) }
        return URLSession(configuration: .isolated, delegate: Recorder(answers), delegateQueue: nil)
    }

    private func request(_ server: RawServer, _ fields: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try url(server.url("/a")))
        request.httpMethod = "TRACE"
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    @Test("carries no cookies and credentials of the session, and those that the caller has set")
    func secrets() async throws {
        let server = try server([Self.challenge, Self.ok, Self.ok, Self.ok, Self.ok])
        let session = session()
        defer { session.invalidateAndCancel() }
        let place = try url(server.url("/a"))
        _ = try await session.data(from: place)
        _ = try await session.data(from: place)
        _ = try await session.data(for: request(server))
        _ = try await session.data(for: request(server, ["Cookie": "mine=1", "Authorization": "Mine"]))
        let heads = String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "\r\n\r\n")
        let secrets = heads.dropLast().map { head in
            head.components(separatedBy: "\r\n").filter { $0.hasPrefix("Cookie:") || $0.hasPrefix("Authorization:") }
        }
        #expect(secrets[2].count == 2 && secrets[3].isEmpty)
        #expect(Set(secrets[4]) == ["Cookie: mine=1", "Authorization: Mine"])
    }

    @Test("leaves a challenge unanswered")
    func challenged() async throws {
        let server = try server([Self.challenge])
        let session = session()
        defer { session.invalidateAndCancel() }
        let (_, response) = try await session.data(for: request(server))
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
    }

    @Test("fails before anything is sent if it has content")
    func content() async throws {
        let server = try server([])
        let session = session()
        defer { session.invalidateAndCancel() }
        var request = try request(server)
        request.httpBody = Data("x".utf8)
        await #expect { try await session.data(for: request) } throws: { error in
            (error as? URLError)?.code == .badURL
        }
        #expect(server.connections.isEmpty)
    }
}
