import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTLS
import UncurlTestServer

@Suite("Where and how long one request connects", .timeLimit(.minutes(5)))
struct RequestRouteTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: max-age=600\r\n\r\nok"

    /// So long that a test which waits for it fails at its own limit.
    private static let unreached = RequestOptions(timeout: .seconds(100_000))

    private func text(_ server: RawServer, _ index: Int) -> String {
        String(decoding: server.received(index), as: UTF8.self)
    }

    @Test(
        "a request is sent to the host and port that it names, with its own URL and Host, until it leaves its origin",
        .rows("W6")
    )
    func connectTo() async throws {
        let other = try RawServer.answering([Self.ok])
        let redirect = "HTTP/1.1 302 Found\r\nLocation: \(other.url("/next"))\r\nContent-Length: 0\r\n\r\n"
        let server = try RawServer.answering([Self.ok, redirect])
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let manager = HTTPSessionManager(configuration: configuration)
        manager.hooks.willCacheResponse = { _, _, proposed in proposed }
        var request = HTTPRequest("http://one.invalid:81/x")
        request.options.connectTo = try ConnectTo(host: "127.0.0.1", port: Int(server.port))
        let first = await manager.response(to: request, serializer: .data)
        #expect(first.value == Data("ok".utf8) && first.request?.url?.host == "one.invalid")
        // The cache has nothing of it, and gives nothing for it.
        let second = await manager.response(to: request, serializer: .data)
        #expect(second.value == Data("ok".utf8) && second.request?.url?.path == "/next")
        let sent = text(server, 0)
        #expect(sent.components(separatedBy: "GET /x HTTP/1.1\r\nHost: one.invalid:81\r\n").count == 3, "\(sent)")
        #expect(text(other, 0).contains("Host: 127.0.0.1:\(other.port)\r\n"))
    }

    @Test(
        "a HEAD that is sent to another server changes nothing of what is stored",
        .rows("W6"),
        arguments: ["a", "b"]
    )
    func headElsewhere(tag: String) async throws {
        let kept = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 3\r\n"
        let server = try RawServer.answering([kept + "ETag: \"a\"\r\n\r\none"])
        let other = try RawServer.answering([kept + "ETag: \"\(tag)\"\r\nX-Other: 1\r\n\r\n"])
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let manager = HTTPSessionManager(configuration: configuration)
        manager.hooks.willCacheResponse = { _, _, proposed in proposed }
        let place = server.url("/x")
        #expect(await manager.response(to: HTTPRequest(place), serializer: .data).value == Data("one".utf8))
        var head = HTTPRequest(.head, place)
        head.options.connectTo = try ConnectTo(host: "127.0.0.1", port: Int(other.port))
        #expect(await manager.response(to: head, serializer: .data).response?.statusCode == 200)
        #expect(text(other, 0).hasPrefix("HEAD /x "))
        let again = await manager.response(to: HTTPRequest(place), serializer: .data)
        #expect(again.value == Data("one".utf8) && again.response?.value(forHTTPHeaderField: "X-Other") == nil)
        #expect(text(server, 0).components(separatedBy: "GET ").count == 2)
    }

    @Test("over TLS, the names are the URL's and not those of the place to connect to", .rows("W6", "D18"))
    func securely() async throws {
        let made = try TestCertificates.localhost
        let server = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(made)))
        let manager = HTTPSessionManager(configuration: .isolated)
        var policy = SecurityPolicy.default
        policy.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        try manager.setSecurityPolicy(policy)
        // The port of the URL is another one: only the place to connect to leads to the server.
        var request = HTTPRequest("https://localhost:1/bytes/3")
        request.options.connectTo = try ConnectTo(host: "127.0.0.1", port: Int(server.port))
        #expect(await manager.response(to: request, serializer: .data).value?.count == 3)
        request.path = "https://other.invalid:1/bytes/3"
        guard case .trust(let failure)? = await manager.response(to: request, serializer: .data).error else {
            Issue.record("a certificate of another name was accepted")
            return
        }
        #expect(failure.host == "other.invalid")
    }

    @Test(
        "a malformed target of a connection is an error",
        arguments: [("", 80), ("a b", 80), ("h", 0), ("h", 65_536)]
    )
    func noPlace(_ host: String, _ port: Int) {
        let expected: ConnectTo.Problem = (1...65_535).contains(port) ? .host(host) : .port(port)
        #expect(throws: expected) { _ = try ConnectTo(host: host, port: port) }
    }

    @Test("a request goes by its own proxy with that one's credentials, and by none where it says so", .rows("W19"))
    func proxy() async throws {
        let asking = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n"
        let server = try RawServer.start([
            RawScript([.receive(.headEnd), .send(asking), .finish]), RawScript.answering(Array(Self.ok.utf8)),
        ])
        let manager = HTTPSessionManager(configuration: .isolated)
        var request = HTTPRequest("http://one.invalid/x")
        request.options.proxy = try RequestProxy("http://user:p%40ss@127.0.0.1:\(server.port)")
        #expect(await manager.response(to: request, serializer: .data).value == Data("ok".utf8))
        let sent = text(server, 1)
        #expect(sent.hasPrefix("GET http://one.invalid/x HTTP/1.1\r\n"), "\(sent)")
        #expect(sent.contains("Proxy-Authorization: Basic \(Data("user:p@ss".utf8).base64EncodedString())\r\n"))
        let configuration = URLSessionConfiguration.isolated
        configuration.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 1]
        let origin = try RawServer.answering([Self.ok])
        var direct = HTTPRequest(origin.url("/y"))
        direct.options.proxy = RequestProxy.none
        let other = HTTPSessionManager(configuration: configuration)
        #expect(await other.response(to: direct, serializer: .data).value == Data("ok".utf8))
        #expect(text(origin, 0).hasPrefix("GET /y HTTP/1.1\r\n"))
    }

    @Test("a stale answer is also brought up to date by the request's own proxy", .rows("W19"))
    func refreshByProxy() async throws {
        let stale =
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: max-age=0, stale-while-revalidate=600\r\n\r\nok"
        let proxy = try RawServer.answering([stale, Self.ok])
        let origin = try RawServer.answering([Self.ok])
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let manager = HTTPSessionManager(configuration: configuration)
        var request = HTTPRequest(origin.url("/x"))
        request.options.proxy = try RequestProxy("http://127.0.0.1:\(proxy.port)")
        for _ in 0..<2 {
            #expect(await manager.response(to: request, serializer: .data).value == Data("ok".utf8))
        }
        await until { text(proxy, 0).components(separatedBy: "GET \(origin.url("/x")) HTTP/1.1").count == 3 }
        #expect(origin.connections.isEmpty)
    }

    @Test("a proxy that refuses a request's credentials fails it without a call of a hook", .rows("W19"))
    func refusedByProxy() async throws {
        let refusal =
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try RawServer.start([], otherwise: RawScript.answering(Array(refusal.utf8)))
        let manager = HTTPSessionManager(configuration: .isolated)
        let asked = Log<Bool>()
        manager.hooks.didReceiveChallenge = { _, _, _ in
            asked.add(true)
            return .performDefaultHandling
        }
        var request = HTTPRequest("http://one.invalid/x")
        request.options.proxy = try RequestProxy("http://user:wrong@127.0.0.1:\(server.port)")
        let response = await manager.response(to: request, serializer: .data)
        #expect(response.error != nil && asked.entries.isEmpty)
    }

    @Test("a malformed proxy URL is an error without the password", arguments: ["ftp://h", "http://u:secret@", "a b"])
    func noProxy(_ url: String) {
        #expect {
            _ = try RequestProxy(url)
        } throws: { error in
            if case UncurlError.invalidURL(let text, _) = error { !text.contains("secret") } else { false }
        }
    }

    @Test("a limit on connecting ends a handshake that does not end, of one request and of a manager", .rows("W13"))
    func connecting() async throws {
        let server = try RawServer.start()
        let manager = HTTPSessionManager(configuration: .isolated)
        var request = HTTPRequest(server.secureURL("/"), options: Self.unreached)
        request.options.connectTimeout = .seconds(0.05)
        #expect(await manager.response(to: request, serializer: .data).error?.isTimeout == true)
        request.options.connectTimeout = nil
        manager.requestDefaults.connectTimeout = .seconds(0.05)
        #expect(await manager.response(to: request, serializer: .data).error?.isTimeout == true)
    }

    @Test("a limit on the first byte ends a wait for an answer, of one request and of a manager", .rows("W13"))
    func firstByte() async throws {
        let server = try RawServer.start()
        let manager = HTTPSessionManager(configuration: .isolated)
        var request = HTTPRequest(server.url("/"), options: Self.unreached)
        request.options.firstByteTimeout = .seconds(0.05)
        #expect(await manager.response(to: request, serializer: .data).error?.isTimeout == true)
        request.options.firstByteTimeout = nil
        manager.requestDefaults.firstByteTimeout = .seconds(0.05)
        #expect(await manager.response(to: request, serializer: .data).error?.isTimeout == true)
    }

    @Test("a manager's deadline ends a request that has none of its own", .rows("W13"))
    func deadline() async throws {
        let server = try RawServer.start()
        let manager = HTTPSessionManager(configuration: .isolated)
        manager.deadline = .milliseconds(50)
        let request = HTTPRequest(server.url("/"), options: Self.unreached)
        #expect(await manager.response(to: request, serializer: .data).error?.isTimeout == true)
    }
}
