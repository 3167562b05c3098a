import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

/// Through real proxies to a real server, plain and https. What only a scripted proxy does is in `ProxyWireTests`.
@Suite("Proxies of Debian's", .timeLimit(.minutes(5)))
struct ProxyPeerTests {
    private static let right = Credentials(user: "user", password: "secret")
    private static let wrong = Credentials(user: "user", password: "guess")

    private let identity: TestCertificates.Identity
    private let plain: TestServer
    private let secure: TestServer
    private let nobody: RefusingPort

    init() throws {
        nobody = try RefusingPort()
        identity = try TestCertificates.localhost
        plain = try TestServer.start()
        secure = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(identity)))
    }

    private func engine(_ kind: Proxy.Kind, _ peer: Peer, _ credentials: Credentials? = nil) throws -> EngineHarness {
        var trust = TLSConfiguration()
        trust.roots = TrustRoots([.pem(Array(identity.authorityPEM.utf8))])
        var configuration = EngineConfiguration()
        // A machine may be busy with other tests for longer than a network should be.
        configuration.timeouts = Timeouts(connect: nil, idle: nil)
        configuration.tls = try TLSContext(trust)
        configuration.proxyTLS = configuration.tls
        configuration.proxies = OriginProxies(
            Proxy(kind, host: try URLHost("127.0.0.1"), port: peer.port, credentials: credentials)
        )
        return try EngineHarness(configuration)
    }

    private func request(
        _ scheme: Origin.Scheme,
        _ target: String,
        host: String = "127.0.0.1"
    ) throws -> EngineRequest {
        let port = scheme == .http ? plain.port : secure.port
        return try EngineRequest(origin: Origin(scheme: scheme, host: host, port: port), target: target)
    }

    /// The same content comes from both servers through whatever lies between, more than once, and nothing is left.
    private func expectTransfers(by engine: EngineHarness, host: String = "127.0.0.1") async throws {
        for scheme in [Origin.Scheme.http, .https] {
            for _ in 0..<3 {
                let result = await engine.run(try request(scheme, "/bytes/100000", host: host))
                #expect(result.status == 200 && result.body.count == 100_000, "\(scheme): \(result)")
                #expect((result.report?.connection?.security != nil) == (scheme == .https))
            }
            // The proxy's credentials end at the proxy.
            let headers = await engine.run(try request(scheme, "/headers", host: host))
            #expect(headers.status == 200 && !headers.text.lowercased().contains("proxy-authorization"))
        }
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    private func expectRefusal(by engine: EngineHarness) async throws {
        for scheme in [Origin.Scheme.http, .https] {
            let result = await engine.run(try request(scheme, "/get"))
            guard case .proxy(.authenticationRequired(let refusal)) = result.error else {
                Issue.record("\(scheme): \(result)")
                continue
            }
            #expect(refusal.status == 407 && !refusal.challenges.isEmpty)
        }
    }

    @Test("squid passes plain requests on in absolute-form and opens tunnels")
    func squid() async throws {
        let squid = try await ProxyPeers.squid()
        defer { squid.stop() }
        try await expectTransfers(by: try engine(.http, squid))
    }

    @Test("squid asks by Basic and is answered; without credentials, or with wrong ones, its 407 is an error")
    func squidBasic() async throws {
        let squid = try await ProxyPeers.squid(.basic)
        defer { squid.stop() }
        try await expectTransfers(by: try engine(.http, squid, Self.right))
        try await expectRefusal(by: try engine(.http, squid, Self.wrong))
        try await expectRefusal(by: try engine(.http, squid))
    }

    @Test(
        "squid asks by Digest and is answered though its nonces grow stale; a wrong password is an error"
    )
    func squidDigest() async throws {
        let squid = try await ProxyPeers.squid(.digest)
        defer { squid.stop() }
        let engine = try engine(.http, squid, Self.right)
        for number in 0..<12 {
            let result = await engine.run(try request(.http, "/bytes/\(number)"))
            #expect(result.status == 200 && result.body.count == number, "\(result)")
        }
        try await expectTransfers(by: engine)
        try await expectRefusal(by: try self.engine(.http, squid, Self.wrong))
    }

    @Test("squid's own refusal of a tunnel is an error with its status and its page")
    func squidRefuses() async throws {
        let squid = try await ProxyPeers.squid()
        defer { squid.stop() }
        let engine = try engine(.http, squid)
        let request = try EngineRequest(origin: Origin(scheme: .https, host: "127.0.0.1", port: nobody.number))
        guard case .proxy(.refused(let refusal)) = await engine.run(request).error else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.status == 503 && String(decoding: refusal.content, as: UTF8.self).contains("<html"))
    }

    @Test("tinyproxy passes on and opens tunnels, with Basic and without")
    func tinyproxy() async throws {
        let open = try await ProxyPeers.tinyproxy(asks: false)
        defer { open.stop() }
        try await expectTransfers(by: try engine(.http, open))
        let asking = try await ProxyPeers.tinyproxy(asks: true)
        defer { asking.stop() }
        try await expectTransfers(by: try engine(.http, asking, Self.right))
        try await expectRefusal(by: try engine(.http, asking))
        // It has a status of its own for wrong credentials, and no challenge.
        let wrong = await (try engine(.http, asking, Self.wrong)).run(try request(.https, "/get"))
        guard case .proxy(.refused(let refusal)) = wrong.error, refusal.status == 401 else {
            Issue.record("\(wrong)")
            return
        }
    }

    @Test("an https proxy is spoken to under TLS, and TLS with the origin goes on inside it")
    func haproxy() async throws {
        let squid = try await ProxyPeers.squid(.basic)
        defer { squid.stop() }
        let front = try await ProxyPeers.haproxy(before: squid.port, identityPEM: identity.chainPEM + identity.keyPEM)
        defer { front.stop() }
        try await expectTransfers(by: try engine(.https, front, Self.right))
    }

    @Test("TLS inside TLS inside TLS carries both ways what is sent")
    func threeLayers() async throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
        let script: RawScript = [.receive(.bytes(content.count)), .send(content)]
        let context = try TLSServerContext(TLSServerConfiguration(identity))
        let server = try RawServer.start(otherwise: script.secured(by: context))
        let pem = identity.chainPEM + identity.keyPEM
        let inner = try await ProxyPeers.haproxy(before: server.port, identityPEM: pem)
        defer { inner.stop() }
        let outer = try await ProxyPeers.haproxy(before: inner.port, identityPEM: pem)
        defer { outer.stop() }
        let origin = try Origin(scheme: .https, host: "127.0.0.1", port: outer.port)
        var trust = TLSConfiguration()
        trust.roots = .pem(identity.authorityPEM)
        var configuration = EngineConfiguration()
        configuration.tls = try TLSContext(trust)
        let engine = try EngineHarness(configuration)
        let speaker = Speaker()
        let opened = Word<LoopBound<UpgradedConnection>?>()
        engine.handle.post { engine in
            engine.open(origin) { first in
                guard let first = try? first.get() else { return opened.give(nil) }
                engine.secure(first, as: origin, having: []) { second in
                    guard let second = try? second.get() else { return opened.give(nil) }
                    engine.secure(second, as: origin, having: []) { third in
                        opened.give(try? LoopBound(third.get(), on: engine.loop))
                    }
                }
            }
        }
        let connection = try #require(await opened.wait("the connection") ?? nil)
        await engine.onLoop { _ in
            connection.value.start(speaker)
            connection.value.write(content)
        }
        await speaker.received.reaches(content.count)
        #expect(speaker.heard.bytes == content && server.received(0) == content)
        await engine.onLoop { _ in connection.value.close() }
    }

    @Test("an https proxy whose certificate is not trusted gives the proxy's TLS error, and gets no credentials")
    func haproxyUntrusted() async throws {
        let squid = try await ProxyPeers.squid()
        defer { squid.stop() }
        let stranger = try TestCertificates.identity(["IP:127.0.0.1"])
        let front = try await ProxyPeers.haproxy(before: squid.port, identityPEM: stranger.chainPEM + stranger.keyPEM)
        defer { front.stop() }
        for scheme in [Origin.Scheme.http, .https] {
            let result = await (try engine(.https, front, Self.right)).run(try request(scheme, "/get"))
            guard case .proxy(.tls(.untrusted)) = result.error else {
                Issue.record("\(scheme): \(result)")
                continue
            }
        }
    }

    /// Trusts every server and every proxy, and records the proxies with the origins behind them.
    private final class Trusting: TrustEvaluator {
        let asked = Mutex<[String]>([])

        func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict?) -> Void) {
            answer(.accept)
        }

        func evaluate(
            _ trust: PeerTrust,
            of proxy: Proxy,
            to origin: Origin,
            answer: @escaping @Sendable (TrustVerdict?) -> Void
        ) {
            asked.withLock { $0.append("\(proxy) to \(origin.scheme)") }
            answer(.accept)
        }
    }

    @Test("an evaluator decides about an https proxy; one that decides about servers alone leaves it to the roots")
    func haproxyEvaluated() async throws {
        let squid = try await ProxyPeers.squid()
        defer { squid.stop() }
        let front = try await ProxyPeers.haproxy(before: squid.port, identityPEM: identity.chainPEM + identity.keyPEM)
        defer { front.stop() }
        var configuration = EngineConfiguration()
        configuration.timeouts = Timeouts(connect: nil, idle: nil)
        configuration.tls = try TLSContext(.asking)
        configuration.proxies = OriginProxies(Proxy(.https, host: try URLHost("127.0.0.1"), port: front.port))
        let trusting = Trusting()
        configuration.trustEvaluator = trusting
        let engine = try EngineHarness(configuration)
        for scheme in [Origin.Scheme.http, .https] {
            #expect(await engine.run(try request(scheme, "/get")).status == 200)
        }
        let proxy = "https://127.0.0.1:\(front.port)"
        #expect(trusting.asked.withLock { $0 } == ["\(proxy) to http", "\(proxy) to https"])
        let others = OnlyServers()
        configuration.trustEvaluator = others
        let result = await (try EngineHarness(configuration)).run(try request(.https, "/get"))
        guard case .proxy(.tls(.untrusted)) = result.error else {
            Issue.record("\(result)")
            return
        }
    }

    private final class OnlyServers: TrustEvaluator {
        func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict?) -> Void) {
            answer(.accept)
        }
    }

    @Test("microsocks tunnels to addresses and names, with a password and without; a wrong one is rejected")
    func microsocks() async throws {
        let open = try await ProxyPeers.microsocks(asks: false)
        defer { open.stop() }
        try await expectTransfers(by: try engine(.socks5, open))
        try await expectTransfers(by: try engine(.socks5, open), host: "localhost")
        try await expectTransfers(by: try engine(.socks5h, open), host: "localhost")
        let asking = try await ProxyPeers.microsocks(asks: true)
        defer { asking.stop() }
        try await expectTransfers(by: try engine(.socks5h, asking, Self.right), host: "localhost")
        let wrong = await (try engine(.socks5, asking, Self.wrong)).run(try request(.https, "/get"))
        #expect(wrong.error == .proxy(.socks(.loginRejected)))
        let nobody = await (try engine(.socks5, asking)).run(try request(.http, "/get"))
        #expect(nobody.error == .proxy(.socks(.noAcceptableMethod)))
    }

    @Test("a request's own roots decide about the server behind a SOCKS proxy, and about no other request's")
    func ownRoots() async throws {
        let proxy = try await ProxyPeers.microsocks(asks: false)
        defer { proxy.stop() }
        let engine = try engine(.socks5h, proxy)
        var trust = TLSConfiguration()
        trust.roots = .pem(try TestCertificates.identity(["DNS:localhost"]).authorityPEM)
        var options = EngineRequest.Options()
        options.tls = try TLSContext(trust)
        let origin = try Origin(scheme: .https, host: "localhost", port: secure.port)
        for _ in 0..<2 {
            let strict = await engine.run(try EngineRequest(origin: origin, target: "/get", options: options))
            guard case .tls(.untrusted)? = strict.error else {
                Issue.record("\(strict)")
                return
            }
            #expect(await engine.run(try EngineRequest(origin: origin, target: "/get")).succeeded)
        }
        #expect(secure.requestCount == 2)
    }

    @Test("dante tunnels to addresses and names, and says when nothing listens there")
    func dante() async throws {
        let dante = try await ProxyPeers.dante()
        defer { dante.stop() }
        try await expectTransfers(by: try engine(.socks5, dante))
        try await expectTransfers(by: try engine(.socks5h, dante), host: "localhost")
        let request = try EngineRequest(origin: Origin(host: "127.0.0.1", port: nobody.number))
        let result = await (try engine(.socks5, dante)).run(request)
        #expect(result.error == .proxy(.socks(.refused(reply: 5))))
    }
}
