import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics

@testable import UncurlEngine

/// What goes over the wire to a scripted SOCKS proxy, and what becomes of its replies.
@Suite("SOCKS on the wire", .timeLimit(.minutes(5)))
struct SOCKSWireTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private func proxy(_ server: RawServer, _ kind: Proxy.Kind) throws -> Proxy {
        try Proxy(url: "\(kind.rawValue)://127.0.0.1:\(server.port)")
    }

    /// Without a limit on connects: a machine may be busy with other tests for longer than a network should be.
    private func engine(
        _ proxy: RawServer,
        _ kind: Proxy.Kind,
        resolver: Resolver? = nil,
        connectLimit: Duration? = nil,
        clock: ManualClock? = nil
    )
        throws -> EngineHarness
    {
        var configuration = EngineConfiguration()
        configuration.timeouts = Timeouts(connect: connectLimit, idle: nil)
        configuration.proxies = OriginProxies(try self.proxy(proxy, kind))
        return try EngineHarness(configuration, clock: clock, resolver: resolver)
    }

    private let greeting: [UInt8] = [5, 1, 0]
    private let granted: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 4, 56]

    @Test("replies that come byte by byte are replies; the proxy is told the name", .scenario(38))
    func socksSplit() async throws {
        let gates = (0..<granted.count).map { _ in RawGate() }
        var steps: [RawStep] = [.receive(.bytes(3)), .send([5]), .wait(gates[0]), .send([0]), .receive(.bytes(18))]
        for (byte, gate) in zip(granted, gates) { steps += [.wait(gate), .send([byte])] }
        steps += [.receive(.headEnd), .send(ok)]
        let proxy = try RawServer.start([RawScript(steps)])
        let engine = try engine(proxy, .socks5h)
        let pending = await engine.begin(try EngineRequest(origin: Origin(host: "origin.test")))
        for gate in gates {
            // A turn of the engine's between any two.
            _ = await engine.statistics
            gate.open()
        }
        #expect(await pending.outcome().text == "ok")
        let request: [UInt8] = [5, 1, 0, 3, 11] + bytes("origin.test") + [0, 80]
        #expect(Array(proxy.received(0).prefix(21)) == greeting + request)
    }

    @Test("a socks5 proxy is told an address that we looked up, a socks5h proxy the name", .scenario(38))
    func socksNames() async throws {
        let script: RawScript = [
            .receive(.bytes(3)), .send([5, 0]), .receive(.bytes(10)), .send(granted), .receive(.headEnd), .send(ok),
        ]
        let proxy = try RawServer.start(otherwise: script)
        var names = Resolver.Options()
        names.overrides = ["origin.test": [.v6(.loopback), .v4(IPv4Address("192.0.2.7")!)]]
        let engine = try engine(proxy, .socks5, resolver: Resolver(options: names))
        #expect(await engine.run(try EngineRequest(origin: Origin(host: "origin.test"))).text == "ok")
        #expect(Array(proxy.received(0).prefix(13)) == greeting + [5, 1, 0, 1, 192, 0, 2, 7, 0, 80])
        #expect(await engine.run(try EngineRequest(origin: Origin(host: "127.0.0.1", port: 81))).text == "ok")
        #expect(Array(proxy.received(1).prefix(13)) == greeting + [5, 1, 0, 1, 127, 0, 0, 1, 0, 81])
    }

    @Test(
        "a name of the system's is looked up while the proxy waits; one that is none is the look-up's error",
        .scenario(38)
    )
    func socksLookups() async throws {
        let script: RawScript = [
            .receive(.bytes(3)), .send([5, 0]), .receive(.bytes(10)), .send(granted), .receive(.headEnd), .send(ok),
        ]
        let proxy = try RawServer.start(otherwise: script)
        var names = Resolver.Options()
        names.lookup = { host, family throws(ResolveError) in
            switch (host, family) {
            case ("four.test", .v4): return [.v4(IPv4Address("192.0.2.7")!)]
            case ("six.test", .v6): return [.v6(.loopback)]
            case ("four.test", .v6), ("six.test", .v4): throw .noAddress
            default: throw .noSuchHost
            }
        }
        let engine = try engine(proxy, .socks5, resolver: Resolver(options: names))
        #expect(await engine.run(try EngineRequest(origin: Origin(host: "four.test"))).text == "ok")
        #expect(Array(proxy.received(0).prefix(13)) == greeting + [5, 1, 0, 1, 192, 0, 2, 7, 0, 80])
        let result = await engine.run(try EngineRequest(origin: Origin(host: "none.test")))
        #expect(result.error == .connect(ConnectError(attempts: [], resolution: .noSuchHost)))
        let six: RawScript = [
            .receive(.bytes(3)), .send([5, 0]), .receive(.bytes(22)), .send(granted), .receive(.headEnd), .send(ok),
        ]
        let other = try RawServer.start(otherwise: six)
        var options = EngineRequest.Options()
        options.proxies = OriginProxies(try self.proxy(other, .socks5))
        #expect(await engine.run(try EngineRequest(origin: Origin(host: "six.test"), options: options)).text == "ok")
        #expect(Array(other.received(0)[3..<7]) == [5, 1, 0, 4])
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test("a look-up for a proxy that fails for want of a descriptor is made again once there may be one", .scenario(9))
    func socksWithoutDescriptor() async throws {
        let proxy = try RawServer.start(otherwise: [
            .receive(.bytes(3)), .send([5, 0]), .receive(.bytes(10)), .send(granted), .receive(.headEnd), .send(ok),
        ])
        let lookups = Mutex(0)
        var names = Resolver.Options()
        names.lookup = { _, family throws(ResolveError) in
            if family == .v6 { throw .noAddress }
            let count = lookups.withLock {
                $0 += 1
                return $0
            }
            if count == 1 { throw .system(.tooManyOpenFiles) }
            return [.v4(IPv4Address("192.0.2.7")!)]
        }
        let engine = try engine(proxy, .socks5, resolver: Resolver(options: names))
        // Its idle connection holds a descriptor, which the look-up gets.
        #expect(await engine.run(try EngineRequest(origin: Origin(host: "127.0.0.1", port: 81))).text == "ok")
        #expect(await engine.run(try EngineRequest(origin: Origin(host: "four.test"))).text == "ok")
        #expect(lookups.withLock(\.self) == 2)
        // Its limit passes while it waits, before the look-up is made again.
        let failing = try self.engine(
            proxy,
            .socks5,
            resolver: Resolver(options: Self.withoutDescriptors),
            connectLimit: .milliseconds(20),
            clock: ManualClock()
        )
        let pending = await failing.begin(try EngineRequest(origin: Origin(host: "four.test")))
        await failing.passTime(
            by: .milliseconds(30),
            where: { !$0.descriptorLine.isEmpty },
            until: { pending.isFinished }
        )
        #expect(
            await pending.outcome().error
                == .connect(ConnectError(attempts: [], resolution: .system(.tooManyOpenFiles)))
        )
    }

    private static var withoutDescriptors: Resolver.Options {
        var names = Resolver.Options()
        names.lookup = { _, _ throws(ResolveError) in throw .system(.tooManyOpenFiles) }
        return names
    }

    @Test("a name below onion is told to a socks5h proxy, which may be Tor's", .scenario(38))
    func socksOnion() async throws {
        let proxy = try RawServer.start(otherwise: [
            .receive(.bytes(3)), .send([5, 0]), .receive(.bytes(14)), .send(granted), .receive(.headEnd), .send(ok),
        ])
        let engine = try engine(proxy, .socks5h)
        #expect(await engine.run(try EngineRequest(origin: Origin(host: "a.onion"))).text == "ok")
        #expect(Array(proxy.received(0).prefix(17)) == greeting + [5, 1, 0, 3, 7] + bytes("a.onion") + [0, 80])
    }

    @Test("a refusal, a wrong version and an early end are the proxy's errors", .scenario(38))
    func socksFailures() async throws {
        let cases: [(RawScript, ProxyError)] = [
            (
                [.receive(.bytes(3)), .send([5, 0]), .receive(.bytes(18)), .send([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])],
                .socks(.refused(reply: 5))
            ),
            ([.receive(.bytes(3)), .send([4, 0])], .socks(.version(4))),
            ([.receive(.bytes(3)), .send([5, 0xFF]), .finish], .socks(.noAcceptableMethod)),
            ([.receive(.bytes(3)), .send([5]), .finish], .closed(nil)),
            ([.receive(.bytes(3)), .send([5, 0]), .receive(.bytes(18)), .reset], .closed(.connectionReset)),
        ]
        for (script, error) in cases {
            let proxy = try RawServer.start(otherwise: script)
            let engine = try engine(proxy, .socks5h)
            #expect(await engine.run(try EngineRequest(origin: Origin(host: "origin.test"))).error == .proxy(error))
            await engine.shutdown()
            #expect(await engine.remains == Remains())
        }
    }

    @Test("a host of 256 octets is an error before the proxy gets a byte of it", .scenario(38))
    func socksLength() async throws {
        let proxy = try RawServer.start()
        let engine = try engine(proxy, .socks5h)
        var options = EngineRequest.Options()
        options.endpoint = .host(String(repeating: "a", count: 256), port: 80)
        let request = try EngineRequest(origin: Origin(host: "origin.test"), options: options)
        #expect(await engine.run(request).error == .proxy(.socks(.hostLength(256))))
        #expect(proxy.connections.allSatisfy { $0.received.isEmpty })
    }
}
