import ScriptedPeer
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

/// One cache for the sessions of several users, as programs on Linux have it.
@Suite("A cache that users share", .timeLimit(.minutes(5)))
struct SharedCacheTests {
    /// A server whose connections belong to one session each, in the order of their first requests: Alice's says "alice",
    /// Bob's says "bob".
    private final class World {
        let server: RawServer
        let cache: URLCache
        let folder = TemporaryFolder()
        private var sessions: [URLSession] = []

        init(_ scripts: RawScript..., diskCapacity: Int = 0) throws {
            server = try RawServer.start(scripts, otherwise: [.close])
            cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: diskCapacity, diskPath: folder.path)
        }

        deinit { for session in sessions { session.invalidateAndCancel() } }

        func session(
            _ cache: URLCache? = nil,
            _ change: (URLSessionConfiguration) -> Void = { _ in }
        ) -> URLSession {
            let configuration = URLSessionConfiguration.isolated
            configuration.urlCache = cache ?? self.cache
            configuration.usesHeuristicFreshness = true
            change(configuration)
            let session = URLSession(configuration: configuration)
            sessions.append(session)
            return session
        }

        func request(_ fields: [String: String] = [:], method: String = "GET") throws -> URLRequest {
            var request = URLRequest(url: try url(server.url("/me")))
            request.httpMethod = method
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            return request
        }

        func load(
            _ session: URLSession,
            _ fields: [String: String] = [:],
            method: String = "GET"
        ) async throws -> String {
            let (data, _) = try await session.data(for: request(fields, method: method))
            return String(decoding: data, as: UTF8.self)
        }

        /// The heads of the requests that came.
        var requests: [String] {
            server.connections.flatMap { $0.receivedText.components(separatedBy: "\r\n\r\n").filter { !$0.isEmpty } }
        }
    }

    private static func answer(_ body: String, _ fields: [String], status: String = "200 OK") -> RawStep {
        let lines = (fields + ["Content-Length: \(body.utf8.count)"]).map { "\($0)\r\n" }.joined()
        return .send("HTTP/1.1 \(status)\r\n\(lines)\r\n\(body)")
    }

    private static func answering(_ body: String, _ fields: [String]) -> RawScript {
        [.receive(.headEnd), answer(body, fields), .startOver]
    }

    /// What lets a private cache keep an answer: with max-age, for this user alone, and by heuristic.
    private static let kept = [
        ["Cache-Control: max-age=600"], ["Cache-Control: private, max-age=600"],
        ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
    ]

    @Test(
        "a request that names another user in a field gets that user's answer",
        arguments: kept,
        ["Authorization", "Cookie", "X-API-Key", "Host"]
    )
    func ownFields(kept: [String], name: String) async throws {
        let world = try World(Self.answering("alice", kept), Self.answering("bob", kept))
        let (alice, bob) = (world.session(), world.session())
        #expect(try await world.load(alice, [name: "alice"]) == "alice")
        #expect(try await world.load(alice, [name: "alice"]) == "alice")
        #expect(world.requests.count == 1)
        #expect(try await world.load(bob, [name: "bob"]) == "bob")
        #expect(try await world.load(bob, [name: "bob"]) == "bob")
        #expect(world.requests.count == 2)
        #expect(try await world.load(alice, [name: "alice"]) == "alice")
        #expect(world.requests.count == 3)
    }

    @Test("a request that names another user in a field that its session calls secret gets that user's answer")
    func ownSecrets() async throws {
        let world = try World(Self.answering("alice", Self.kept[0]), Self.answering("bob", Self.kept[0]))
        // One each, and so a connection each: the first that comes is answered as alice's.
        let (alice, bob) = (
            world.session { $0.secretHeaderFields.insert("X-Mine") },
            world.session { $0.secretHeaderFields.insert("X-Mine") }
        )
        #expect(try await world.load(alice, ["X-Mine": "alice"]) == "alice")
        #expect(try await world.load(alice, ["X-Mine": "alice"]) == "alice")
        #expect(world.requests.count == 1)
        #expect(try await world.load(bob, ["X-Mine": "bob"]) == "bob")
        #expect(world.requests.count == 2)
    }

    @Test("sessions whose own fields name different users each get their own answer")
    func sessionFields() async throws {
        let world = try World(Self.answering("alice", Self.kept[0]), Self.answering("bob", Self.kept[0]))
        let alice = world.session { $0.httpAdditionalHeaders = ["Authorization": "Bearer alice"] }
        let bob = world.session { $0.httpAdditionalHeaders = ["Authorization": "Bearer bob"] }
        #expect(try await world.load(alice) == "alice")
        #expect(try await world.load(bob) == "bob")
        #expect(try await world.load(bob) == "bob")
        #expect(world.requests.count == 2)
    }

    @Test("sessions whose cookie storages differ each get their own answer")
    func storages() async throws {
        let world = try World(Self.answering("alice", Self.kept[0]), Self.answering("bob", Self.kept[0]))
        let place = try url(world.server.url("/me"))
        func session(_ user: String) throws -> URLSession {
            let cookie = try #require(
                HTTPCookie(properties: [.name: "user", .value: user, .path: "/", .originURL: place])
            )
            return world.session { $0.httpCookieStorage?.setCookie(cookie) }
        }
        let (alice, bob) = (try session("alice"), try session("bob"))
        #expect(try await world.load(alice) == "alice")
        #expect(try await world.load(alice) == "alice")
        #expect(try await world.load(bob) == "bob")
        #expect(world.requests.count == 2)
    }

    @Test(
        "sessions that answer challenges with different passwords get each their own answer",
        arguments: ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""]
    )
    func challenges(challenge: String) async throws {
        func script(_ body: String) -> RawScript {
            [
                .receive(.headEnd), Self.answer("", ["WWW-Authenticate: \(challenge)"], status: "401 No"),
                .receive(.headEnd), Self.answer(body, Self.kept[0]),
            ]
        }
        let world = try World(script("alice"), script("bob"))
        let space = URLProtectionSpace(
            host: "127.0.0.1",
            port: Int(world.server.port),
            protocol: "http",
            realm: "r",
            authenticationMethod: nil
        )
        func session(_ user: String) -> URLSession {
            world.session {
                let credential = URLCredential(user: user, password: "secret", persistence: .forSession)
                $0.urlCredentialStorage?.setDefaultCredential(credential, for: space)
            }
        }
        let (alice, bob) = (session("alice"), session("bob"))
        #expect(try await world.load(alice) == "alice")
        #expect(try await world.load(alice) == "alice")
        #expect(world.requests.count == 2)
        #expect(try await world.load(bob) == "bob")
        #expect(try await world.load(bob) == "bob")
        #expect(world.requests.count == 4)
    }

    @Test("an anonymous request and one with Authorization do not get each other's answer")
    func nobody() async throws {
        let world = try World(
            Self.answering("nobody", Self.kept[0]),
            Self.answering("alice", Self.kept[0]),
            Self.answering("nobody", Self.kept[0])
        )
        #expect(try await world.load(world.session()) == "nobody")
        #expect(try await world.load(world.session(), ["Authorization": "Bearer alice"]) == "alice")
        #expect(try await world.load(world.session()) == "nobody")
    }

    @Test("another user's stale answer is neither validated nor served in place of an error")
    func conditions() async throws {
        let kept = ["Cache-Control: max-age=0, stale-if-error=600, stale-while-revalidate=600", "ETag: \"a\""]
        let error: RawScript = [.receive(.headEnd), Self.answer("no", [], status: "503 Oh")]
        let world = try World(Self.answering("alice", kept), error)
        #expect(try await world.load(world.session(), ["Authorization": "Bearer alice"]) == "alice")
        #expect(try await world.load(world.session(), ["Authorization": "Bearer bob"]) == "no")
        #expect(world.requests.count == 2 && world.requests.last?.contains("If-None-Match") == false)
    }

    @Test(
        "an answer that its server calls public is everyone's, unless it sets a cookie",
        arguments: [([], "alice"), (["Set-Cookie: user=alice"], "bob")]
    )
    func everyones(more: [String], second: String) async throws {
        let kept = ["Cache-Control: public, max-age=600"] + more
        let world = try World(Self.answering("alice", kept), Self.answering("bob", kept))
        #expect(try await world.load(world.session(), ["Authorization": "Bearer alice"]) == "alice")
        #expect(try await world.load(world.session(), ["Authorization": "Bearer bob"]) == second)
    }

    @Test(
        "a 304 that makes a public answer its user's own takes it from the others",
        arguments: ["Cache-Control: private, max-age=600", "Set-Cookie: user=alice"]
    )
    func noLongerEveryones(field: String) async throws {
        let kept = ["Cache-Control: public, max-age=0", "ETag: \"a\""]
        let notModified = "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\(field)\r\n\r\n"
        let alices: RawScript = [
            .receive(.headEnd), Self.answer("alice", kept), .receive(.headEnd), .send(notModified), .startOver,
        ]
        let world = try World(alices, Self.answering("bob", kept))
        let alice = world.session()
        for _ in 0..<2 { #expect(try await world.load(alice, ["Authorization": "Bearer alice"]) == "alice") }
        #expect(try await world.load(world.session(), ["Authorization": "Bearer bob"]) == "bob")
    }

    @Test("an answer on disk stays its user's, and its file holds no secret of the request")
    func onDisk() async throws {
        let kept = Self.kept[0] + ["Vary: X-API-Key"]
        let world = try World(Self.answering("alice", kept), Self.answering("bob", kept), diskCapacity: 1 << 20)
        let alices = ["Authorization": "Bearer alices-token", "X-API-Key": "alices-key"]
        #expect(try await world.load(world.session(), alices) == "alice")
        world.cache.disk?.finishWriting()
        let file = String(decoding: world.folder.bytes(of: try #require(world.folder.names.first)), as: UTF8.self)
        #expect(file.contains("authorization") && !file.contains("alices-"))
        let next = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, diskPath: world.folder.path)
        #expect(try await world.load(world.session(next), alices) == "alice")
        #expect(world.requests.count == 1)
        #expect(try await world.load(world.session(next), ["Authorization": "Bearer bob"]) == "bob")
    }

    /// "plain" in gzip, in one stored block.
    static let gzip: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 0, 255, 1, 5, 0, 250, 255, 112, 108, 97, 105, 110, 207, 98, 32, 25, 5, 0, 0, 0,
    ]

    @Test(
        "content as it came is not for a session that has it decoded, nor the other way round",
        arguments: [true, false]
    )
    func codings(isCodedFirst: Bool) async throws {
        let head =
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Encoding: gzip\r\nContent-Length: 28\r\n\r\n"
        let script: RawScript = [.receive(.headEnd), .send(Array(head.utf8) + Self.gzip), .startOver]
        let world = try World(script, script)
        let coded = (world.session { $0.httpAdditionalHeaders = ["Accept-Encoding": "gzip"] }, Data(Self.gzip))
        let decoded = (world.session(), Data("plain".utf8))
        var count = 0
        for (session, content) in isCodedFirst ? [coded, decoded] : [decoded, coded] {
            count += 1
            for _ in 0..<2 {
                #expect(try await session.data(for: world.request()).0 == content)
                #expect(world.requests.count == count)
            }
        }
    }

    @Test("a HEAD by another user leaves a stored answer as it is")
    func heads() async throws {
        let head: RawScript = [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nETag: \"b\"\r\nContent-Length: 3\r\n\r\n"),
        ]
        let world = try World(Self.answering("alice", Self.kept[0] + ["ETag: \"a\""]), head)
        let alice = world.session()
        #expect(try await world.load(alice, ["Authorization": "Bearer alice"]) == "alice")
        #expect(try await world.load(world.session(), ["Authorization": "Bearer bob"], method: "HEAD") == "")
        #expect(try await world.load(alice, ["Authorization": "Bearer alice"]) == "alice")
        #expect(world.requests.count == 2)
    }

    @Test("cachedResponse(for:) with a request that names a user finds only that user's answer")
    func byHand() async throws {
        let world = try World(Self.answering("alice", Self.kept[0]))
        _ = try await world.load(world.session(), ["Authorization": "Bearer alice"])
        func found(_ fields: [String: String]) throws -> Bool {
            world.cache.cachedResponse(for: try world.request(fields)) != nil
        }
        #expect(try found(["Authorization": "Bearer alice"]) && found(["Accept": "text/plain"]) && found([:]))
        #expect(try !found(["Authorization": "Bearer bob"]) && !found(["X-API-Key": "bob"]))
    }

    @Test("a response that a program stores for a request without a user is served to every user")
    func storedByHand() async throws {
        let world = try World()
        let response = try #require(
            HTTPURLResponse(
                url: try url(world.server.url("/me")),
                statusCode: 200,
                httpVersion: nil,
                headerFields: ["Cache-Control": "max-age=600"]
            )
        )
        let entry = CachedURLResponse(response: response, data: Data("all".utf8))
        world.cache.storeCachedResponse(entry, for: try world.request())
        #expect(try await world.load(world.session(), ["Authorization": "Bearer bob"]) == "all")
        #expect(world.requests.isEmpty)
    }

    @Test("a URLProtocol class gets the cached answer of the user that the request names, and no other")
    func classes() async throws {
        let world = try World(Self.answering("alice", Self.kept[0]))
        _ = try await world.load(world.session(), ["Authorization": "Bearer alice"])
        func session(_ user: String?) -> URLSession {
            world.session {
                $0.protocolClasses = [CachedOrNothing.self]
                $0.httpAdditionalHeaders = user.map { ["Authorization": "Bearer \($0)"] }
            }
        }
        #expect(try await world.load(session("alice")) == "alice")
        #expect(try await world.load(session("bob")) == "nothing")
        #expect(try await world.load(session(nil)) == "nothing")
    }

    @Test(
        "a session that would refuse a server gets no answer that another session's delegate let in",
        arguments: ["max-age=600", "public, max-age=600"],
        [false, true]
    )
    func trust(control: String, isStale: Bool) async throws {
        let settings = TLSServerConfiguration(try TestCertificates.localhost)
        let fields = ["Cache-Control: \(control)", "ETag: \"v1\""] + (isStale ? ["Age: 1000"] : [])
        let script = Self.answering("alice", fields).secured(by: try TLSServerContext(settings))
        let world = try World(script, script)
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            let trust = challenge.protectionSpace.serverTrust
            return trust.map { (.useCredential, URLCredential(trust: $0)) } ?? (.performDefaultHandling, nil)
        }
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = world.cache
        let trusting = URLSession(configuration: configuration, delegate: Recorder(answers), delegateQueue: nil)
        defer { trusting.invalidateAndCancel() }
        let place = try url(world.server.secureURL("/me"))
        for _ in 0..<2 { #expect(try await trusting.data(from: place).0 == Data("alice".utf8)) }
        // Not even its own session is served it again.
        #expect(world.requests.count == 2)
        let policies: [URLRequest.CachePolicy] = [
            .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
        ]
        for policy in policies {
            let request = URLRequest(url: place, cachePolicy: policy)
            await #expect(throws: URLError.self) { try await world.session().data(for: request) }
        }
    }

    @Test("a session that has shown no client certificate does not get an answer that was served for one")
    func certificates() async throws {
        let (localhost, client) = (try TestCertificates.localhost, try TestCertificates.client)
        var settings = TLSServerConfiguration(localhost)
        settings.clientCertificate = .required(Array(client.authorityPEM.utf8))
        let script = Self.answering("alice", Self.kept[0]).secured(by: try TLSServerContext(settings))
        let world = try World(script, script)
        let identity = try URLClientIdentity(pem: Data((client.chainPEM + client.keyPEM).utf8))
        var answers = Recorder.Answers()
        func session(showing isShowing: Bool) -> URLSession {
            answers.challenge = { challenge in
                if let trust = challenge.protectionSpace.serverTrust {
                    return (.useCredential, URLCredential(trust: trust))
                }
                guard isShowing else { return (.performDefaultHandling, nil) }
                return (.useCredential, URLCredential(identity: identity, persistence: .none))
            }
            let configuration = URLSessionConfiguration.isolated
            configuration.urlCache = world.cache
            return URLSession(configuration: configuration, delegate: Recorder(answers), delegateQueue: nil)
        }
        let (alice, bob) = (session(showing: true), session(showing: false))
        defer { for session in [alice, bob] { session.invalidateAndCancel() } }
        let place = try url(world.server.secureURL("/me"))
        for _ in 0..<2 { #expect(try await alice.data(from: place).0 == Data("alice".utf8)) }
        #expect(world.requests.count == 2)
        await #expect(throws: URLError.self) { try await bob.data(from: place) }
    }
}

/// Answers from the cache if it is handed anything, and else with "nothing".
private final class CachedOrNothing: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }

    override func startLoading() {
        guard let url = request.url, let client else { return }
        if let cachedResponse { return client.urlProtocol(self, cachedResponseIsValid: cachedResponse) }
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 7, textEncodingName: nil)
        client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client.urlProtocol(self, didLoad: Data("nothing".utf8))
        client.urlProtocolDidFinishLoading(self)
    }
}
