import Foundation
import ScriptedPeer
import TestSupport
import Testing

@testable import URLLoading

@Suite("How long a session uses a credential", .timeLimit(.minutes(5)))
struct CredentialPersistenceTests {
    private static let refusal = RawStep.send(
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n"
    )
    private static let moved = RawStep.send("HTTP/1.1 302 Found\r\nLocation: /a/next\r\nContent-Length: 0\r\n\r\n")
    private static let ok = RawStep.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    private let session = URLSession(configuration: .isolated)

    /// Answers every challenge as one user.
    private final class Login: NSObject, URLSessionTaskDelegate {
        let challenges = Counter()
        private let credential: URLCredential

        init(_ user: String, _ persistence: URLCredential.Persistence) {
            credential = URLCredential(user: user, password: "p", persistence: persistence)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            challenges.add()
            return (.useCredential, credential)
        }
    }

    /// One connection with these answers.
    private func server(_ answers: [RawStep]) throws -> RawServer {
        try RawServer.start([RawScript(answers.flatMap { [.receive(.headEnd), $0] })])
    }

    private func target(_ server: RawServer, _ user: String? = nil) throws -> URL {
        var parts = try #require(URLComponents(string: server.url("/a/b")))
        (parts.user, parts.password) = (user, user == nil ? nil : "p")
        return try #require(parts.url)
    }

    private func status(_ url: URL, _ delegate: (any URLSessionTaskDelegate)? = nil) async throws -> Int? {
        (try await session.data(from: url, delegate: delegate).1 as? HTTPURLResponse)?.statusCode
    }

    /// The users in the Authorization fields of the requests, in their order.
    private func users(_ server: RawServer) -> [String?] {
        let heads = String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "\r\n\r\n").dropLast()
        return heads.map { head in
            let line = head.components(separatedBy: "\r\n").first { $0.hasPrefix("Authorization: Basic ") }
            let words = line.flatMap { Data(base64Encoded: String($0.dropFirst("Authorization: Basic ".count))) }
            return words.map { String(String(decoding: $0, as: UTF8.self).prefix { $0 != ":" }) }
        }
    }

    @Test(
        "name and password are sent in NFC to a server that names UTF-8, and as they are to others",
        arguments: [
            ("Basic realm=\"r\", charset=\"UTF-8\"", "caf\u{E9}"), ("Basic realm=\"r\", charset=utf-8", "caf\u{E9}"),
            ("Basic realm=\"r\"", "cafe\u{301}"), ("Basic realm=\"r\", charset=latin1", "cafe\u{301}"),
        ]
    )
    func normalized(challenge: String, user: String) async throws {
        let refusal = "HTTP/1.1 401 No\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"
        let server = try server([.send(refusal), Self.ok, Self.ok])
        for _ in 0..<2 { #expect(try await status(target(server), Login("cafe\u{301}", .forSession)) == 200) }
        // Strings that are canonically equivalent are equal; their octets are not.
        #expect(users(server).map { $0.map { Array($0.utf8) } } == [nil, Array(user.utf8), Array(user.utf8)])
    }

    @Test("a credential without persistence serves its own task alone: the next task's delegate is asked")
    func usedOnce() async throws {
        let server = try server([Self.refusal, Self.ok, Self.refusal, Self.ok])
        for user in ["alice", "bob"] {
            #expect(try await status(target(server), Login(user, .none)) == 200)
        }
        #expect(users(server) == [nil, "alice", nil, "bob"])
    }

    @Test("users that are named in URLs are each sent with their own name, and with no other before")
    func named() async throws {
        let server = try server([Self.ok, Self.ok])
        for user in ["alice", "bob"] { #expect(try await status(target(server, user)) == 200) }
        #expect(users(server) == ["alice", "bob"])
    }

    @Test("a user named in a URL is not replaced by the one that the session has remembered")
    func namedAfterwards() async throws {
        let server = try server([Self.refusal, Self.ok, Self.ok, Self.ok])
        let alice = Login("alice", .forSession)
        #expect(try await status(target(server), alice) == 200)
        #expect(try await status(target(server, "bob")) == 200)
        #expect(try await status(target(server, "alice")) == 200)
        #expect(users(server) == [nil, "alice", "bob", "alice"])
    }

    @Test("a task's redirects carry its credential without persistence, and the delegate is not asked again")
    func redirected() async throws {
        let server = try server([Self.refusal, Self.moved, Self.ok, Self.moved, Self.ok, Self.ok])
        let alice = Login("alice", .none)
        #expect(try await status(target(server), alice) == 200)
        #expect(alice.challenges.value == 1)
        #expect(try await status(target(server, "bob")) == 200)
        #expect(try await status(target(server)) == 200)
        #expect(users(server) == [nil, "alice", "alice", "bob", "bob", nil])
    }

    @Test("an accepted credential is stored away from the session's loop, which the storage's observers cannot block")
    func announced() async throws {
        let server = try server([Self.refusal, Self.ok])
        let storage = try #require(session.configuration.urlCredentialStorage)
        let isOnLoop = Word<Bool>()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSURLCredentialStorageChanged,
            object: storage,
            queue: nil
        ) { [session] _ in
            isOnLoop.give(session.home.isOnLoop)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(try await status(target(server), Login("alice", .forSession)) == 200)
        #expect(await isOnLoop.wait("the change of the storage") == false)
        #expect(storage.allCredentials.count == 1)
    }

    @Test("of a server that names a new realm each time, a storage keeps the newest; what the program stored stays")
    func realms() async throws {
        let answers = (0..<100).flatMap { number -> [RawStep] in
            let challenge = "WWW-Authenticate: Basic realm=\"r\(number)\"\r\n"
            return [.send("HTTP/1.1 401 Unauthorized\r\n\(challenge)Content-Length: 0\r\n\r\n"), Self.ok]
        }
        let server = try server(answers)
        let storage = try #require(session.configuration.urlCredentialStorage)
        func space(_ realm: String) -> URLProtectionSpace {
            URLProtectionSpace(
                host: "127.0.0.1",
                port: Int(server.port),
                protocol: "http",
                realm: realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            )
        }
        let own = (0..<40).map { space("own\($0)") }
        for space in own {
            storage.set(URLCredential(user: "bob", password: "p", persistence: .forSession), for: space)
        }
        let alice = Login("alice", .forSession)
        for _ in 0..<100 { #expect(try await status(target(server), alice) == 200) }
        await until { storage.credentials(for: space("r99")) != nil }
        #expect(storage.allCredentials.count == 40 + 32)
        #expect(own.allSatisfy { storage.credentials(for: $0)?.count == 1 })
        #expect(storage.credentials(for: space("r68")) != nil && storage.credentials(for: space("r67")) == nil)
        #expect(storage.defaultCredential(for: space("r67")) == nil)
    }

    @Test("a credential that the program stores again is its own, and no session's")
    func ownAgain() throws {
        let storage = URLCredentialStorage()
        func space(_ host: String, _ realm: Int) -> URLProtectionSpace {
            URLProtectionSpace(host: host, port: 80, protocol: "http", realm: "\(realm)", authenticationMethod: nil)
        }
        let credential = URLCredential(user: "alice", password: "p", persistence: .forSession)
        storage.add(credential, for: space("a", 0))
        storage.set(credential, for: space("a", 0))
        for realm in 1..<100 { storage.add(credential, for: space("a", realm)) }
        #expect(storage.allCredentials.count == 33 && storage.credentials(for: space("a", 0)) != nil)
        for number in 0..<1_100 { storage.add(credential, for: space("h\(number)", 0)) }
        #expect(storage.allCredentials.count == 1_024 + 1)
    }
}
