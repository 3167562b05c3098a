import Foundation
import ScriptedPeer
import TestSupport
import Testing

@testable import URLLoading

/// Octets of a server's that are no UTF-8, and that its client sends back (RFC 9110 §5.5, RFC 6265bis §5.8.3).
@Suite("Octets that are no UTF-8", .timeLimit(.minutes(5)))
struct OpaqueOctetsTests {
    private static func latin1(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }

    private static let end = "Content-Length: 0\r\n\r\n"

    private func server(_ answers: [String]) throws -> RawServer {
        try RawServer.start([RawScript(answers.flatMap { [.receive(.headEnd), .send(Self.latin1($0))] })])
    }

    @Test("go back as they came in a Digest answer")
    func digest() async throws {
        let server = try server([
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"f\u{FC}r alle\", nonce=\"n\u{E9}\", qop=\"auth\"\r\n\(Self.end)",
            "HTTP/1.1 200 OK\r\n\(Self.end)", "HTTP/1.1 200 OK\r\n\(Self.end)",
        ])
        var answers = Recorder.Answers()
        answers.challenge = { _ in (.useCredential, URLCredential(user: "u", password: "p", persistence: .forSession)) }
        let session = URLSession(configuration: .isolated, delegate: Recorder(answers), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 { _ = try await session.data(from: url(server.url("/"))) }
        let heads = server.received(0).split(separator: Self.latin1("\r\n\r\n"))
        try #require(heads.count == 3)
        for head in heads.dropFirst() {
            #expect(
                head.contains(Self.latin1("realm=\"f\u{FC}r alle\"")) && head.contains(Self.latin1("nonce=\"n\u{E9}\""))
            )
        }
    }

    /// Does what its superclass does.
    private final class Own: HTTPCookieStorage, @unchecked Sendable {}

    @Test("go back as they came in a cookie", arguments: [false, true])
    func cookie(isSubclass: Bool) async throws {
        let server = try server([
            "HTTP/1.1 200 OK\r\nSet-Cookie: lat=caf\u{E9}\r\n\(Self.end)", "HTTP/1.1 200 OK\r\n\(Self.end)",
        ])
        let configuration = URLSessionConfiguration.isolated
        if isSubclass { configuration.httpCookieStorage = Own() }
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 { _ = try await session.data(from: url(server.url("/"))) }
        #expect(server.received(0).contains(Self.latin1("Cookie: lat=caf\u{E9}\r\n")))
    }
}
