import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics

@testable import UncurlEngine

/// The way through proxies while system calls fail, and while they move one byte at a time.
@Suite("Proxies over a bad kernel", .ownThread, .serialized, .timeLimit(.minutes(5)))
struct ProxyTortureTests {
    /// Each exchange has its own way through the proxy.
    private static let ok = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
    private static let challenge =
        "HTTP/1.1 407 Auth\r\nProxy-Authenticate: Digest realm=p, nonce=n, qop=auth\r\nContent-Length: 0\r\n\r\n"

    /// A proxy that asks each tunnel for credentials, whatever it is shown first.
    private static let tunnel: RawScript = [
        .receive(.headEnd), .send(challenge), .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"),
        .receive(.headEnd), .send(ok),
    ]
    /// A SOCKS proxy that asks for a log-in (16 octets) and is told an address.
    private static let socks: RawScript = [
        .receive(.bytes(4)), .send([5, 2]), .receive(.bytes(5)), .send([1, 0]), .receive(.bytes(10)),
        .send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]), .receive(.headEnd), .send(ok),
    ]

    /// A plain request that takes a tunnel to another place than its origin, through what plays `script`.
    private func request(_ kind: Proxy.Kind, through proxy: RawServer) throws -> EngineRequest {
        var options = EngineRequest.Options()
        options.endpoint = .host("behind.test", port: 81)
        let credentials = Credentials(user: "u", password: "p")
        options.proxies = OriginProxies(
            Proxy(kind, host: try URLHost(Torture.host), port: proxy.port, credentials: credentials)
        )
        return try EngineRequest(origin: Origin(host: "origin.test"), options: options)
    }

    @Test("every system call of a tunnel with credentials fails once", arguments: TortureTests.errnos)
    func tunnel(errno: Errno) async throws {
        let proxy = try RawServer.start(otherwise: Self.tunnel)
        let request = try request(.http, through: proxy)
        #expect(try await Torture { [await $0.run(request)] }.run(failing: errno) >= 20)
    }

    @Test("every system call of a SOCKS log-in with a look-up fails once", arguments: TortureTests.errnos)
    func socks(errno: Errno) async throws {
        let proxy = try RawServer.start(otherwise: Self.socks)
        let request = try request(.socks5, through: proxy)
        #expect(try await Torture { [await $0.run(request)] }.run(failing: errno) >= 20)
    }

    @Test(
        "sends and receives of one byte, refused and interrupted, change nothing",
        arguments: [Proxy.Kind.http, .socks5]
    )
    func trickle(kind: Proxy.Kind) async throws {
        let proxy = try RawServer.start(otherwise: kind == .http ? Self.tunnel : Self.socks)
        var names = Resolver.Options()
        names.lookup = { _, family in family == .v4 ? [.v4(.loopback)] : [] }
        let engine = try EngineHarness(resolver: Resolver(options: names))
        await engine.onLoop {
            let plan = FaultPlan(seed: 11)
            plan.blockPercent = 30
            plan.interruptPercent = 10
            plan.maximumBytes = 1
            $0.loop.faults = plan
        }
        for _ in 0..<3 { #expect(await engine.run(try request(kind, through: proxy)).text == "ok") }
        await engine.onLoop { $0.loop.faults = nil }
    }
}
