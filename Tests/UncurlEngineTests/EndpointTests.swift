import Glibc
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlReactor
import UncurlSemantics

@testable import UncurlEngine

/// How an exchange comes by its connection, and what it hears when it does not.
@Suite("Connecting", .timeLimit(.minutes(5)))
struct EndpointTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private let nobody: RefusingPort

    init() throws { nobody = try RefusingPort() }

    private func resolver(_ lookup: @escaping Resolver.LookupFunction) -> Resolver {
        var options = Resolver.Options()
        options.lookup = lookup
        return Resolver(options: options)
    }

    private func request(_ host: String, _ port: UInt16, _ endpoint: Endpoint = .origin) throws -> EngineRequest {
        var options = EngineRequest.Options()
        options.endpoint = endpoint
        return try EngineRequest(origin: Origin(host: host, port: port), options: options)
    }

    @Test("unix sockets, by path and by abstract name; Host still comes from the URL", arguments: [true, false])
    func unix(isAbstract: Bool) async throws {
        let text = "/tmp/uncurl-engine-\(getpid())"
        let name = try #require(isAbstract ? UnixName(abstract: text) : UnixName(path: text))
        defer { if !isAbstract { unlink(text) } }
        let server = try RawServer.start(address: .unix(name), otherwise: .answering(ok))
        // A local address is for TCP, and no reason to refuse a unix socket.
        var configuration = EngineConfiguration()
        configuration.localAddresses = [.loopback()]
        let engine = try EngineHarness(configuration)
        let request = try request("example.test", 80, .address(.unix(name)))
        for _ in 0..<2 { #expect(await engine.run(request).text == "ok") }
        #expect(server.connections.count == 1)
        #expect(server.connections[0].receivedText.contains("\r\nHost: example.test\r\n"))
    }

    @Test("a request sent elsewhere than its origin says goes there, on connections of its own")
    func connectTo() async throws {
        let servers = try (0..<2).map { _ in try RawServer.start(otherwise: .answering(ok)) }
        let engine = try EngineHarness()
        let requests = [
            try request("127.0.0.1", servers[0].port),
            try request("127.0.0.1", servers[0].port, .address(servers[1].address)),
            try request("example.test", 80, .host("localhost", port: servers[1].port)),
        ]
        for request in requests { #expect(await engine.run(request).report?.reusedConnection == false) }
        #expect(servers.map { $0.connections.count } == [1, 2])
        #expect(servers[1].connections[0].receivedText.contains("\r\nHost: 127.0.0.1:\(servers[0].port)\r\n"))
        #expect(await engine.statistics.idle == 3)
    }

    @Test("local addresses are used in turn, those of the peer's family")
    func localAddresses() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        var configuration = EngineConfiguration()
        configuration.exchangesPerConnection = 1
        configuration.localAddresses = ["127.0.0.2", "::1", "127.0.0.3"].compactMap {
            SocketAddress(numericHost: $0, port: 0)
        }
        let engine = try EngineHarness(configuration)
        for _ in 0..<4 { #expect(await engine.run(try get(server.port)).text == "ok") }
        let hosts = server.connections.compactMap { $0.peer?.withPort(0).description }
        #expect(hosts == ["127.0.0.2:0", "127.0.0.3:0", "127.0.0.2:0", "127.0.0.3:0"])
    }

    @Test("a request's own local address comes before the engine's, and is never shared with another's connection")
    func ownLocalAddress() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        var configuration = EngineConfiguration()
        configuration.localAddresses = [try #require(SocketAddress(numericHost: "127.0.0.2", port: 0))]
        let engine = try EngineHarness(configuration)
        func from(_ host: String?) throws -> EngineRequest {
            var options = EngineRequest.Options()
            options.localAddress = host.flatMap { SocketAddress(numericHost: $0, port: 0) }
            return try EngineRequest(origin: origin(server.port), options: options)
        }
        for host in [nil, "127.0.0.3", "127.0.0.4", "127.0.0.3", nil] {
            #expect(await engine.run(try from(host)).text == "ok")
        }
        let hosts = server.connections.compactMap { $0.peer?.withPort(0).description }
        #expect(hosts == ["127.0.0.2:0", "127.0.0.3:0", "127.0.0.4:0"])
        // Of the wrong family: no address of the peer's is left to dial.
        guard case .connect? = await engine.run(try from("::1")).error else {
            Issue.record("a v4 peer was reached from a v6 address")
            return
        }
    }

    @Test("a closed port is a refusal with its address, told at once, and the next address is tried", .scenario(1))
    func refused() async throws {
        let port = nobody.number
        // Time stands still: what comes has waited for nothing.
        let engine = try EngineHarness(clock: ManualClock())
        let address = SocketAddress.loopback(port: port)
        let attempt = ConnectError.Attempt(address: address, errno: .connectionRefused)
        #expect(await engine.run(try get(port)).error == .connect(ConnectError(attempts: [attempt], resolution: nil)))
        let server = try RawServer.start(otherwise: .answering(ok))
        let second = try EngineHarness(
            resolver: resolver { _, family in
                family == .v4 ? [.v4(IPv4Address(bits: 0x7F00_0002)), .v4(.loopback)] : []
            }
        )
        #expect(await second.run(try request("two.test", server.port)).text == "ok")
        #expect(await engine.statistics == EngineStatistics())
    }

    @Test("an address without a route keeps its errno", .scenario(3))
    func unreachable() async throws {
        // The kernel refuses TCP to the broadcast address by itself; nothing leaves the machine.
        let address = try #require(SocketAddress(numericHost: "255.255.255.255", port: 9))
        let engine = try EngineHarness()
        guard case .connect(let error)? = await engine.run(try request("a.test", 80, .address(address))).error else {
            Issue.record("connected to the broadcast address")
            return
        }
        #expect(error.attempts.map(\.address) == [address])
        #expect([.networkUnreachable, .accessDenied, .hostUnreachable].contains(error.errno))
    }

    @Test(
        "what the name look-up came to is told",
        .scenario(7),
        arguments: [ResolveError.noSuchHost, .temporaryFailure, .noAddress]
    )
    func lookupFails(failure: ResolveError) async throws {
        let engine = try EngineHarness(
            resolver: resolver { _, _ throws(ResolveError) in
                if failure == .noAddress { return [] }
                throw failure
            }
        )
        let error = await engine.run(try request("no.test", 80)).error
        #expect(error == .connect(ConnectError(attempts: [], resolution: failure)))
        #expect(await engine.remains.hosts == 0)
    }

    @Test("of a name with 64 addresses, only some are tried", .scenario(7))
    func manyAddresses() async throws {
        let engine = try EngineHarness(
            resolver: resolver { _, family in
                family == .v4 ? (1...64).map { .v4(IPv4Address(bits: 0x7F00_0100 + UInt32($0))) } : []
            }
        )
        guard case .connect(let error)? = await engine.run(try request("many.test", nobody.number)).error else {
            Issue.record("connected to nobody")
            return
        }
        #expect((1...16).contains(error.attempts.count))
    }

    @Test("one family's look-up that hangs does not hold back the other's answer", .scenario(6))
    func slowFamily() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        let hang = Gate()
        defer { hang.open() }
        let engine = try EngineHarness(
            resolver: resolver { _, family in
                if family == .v6 { hang.wait() }
                return family == .v4 ? [.v4(.loopback)] : []
            }
        )
        #expect(await engine.run(try request("slow.test", server.port)).text == "ok")
    }

    @Test("cancelled while its name is looked up, an exchange ends at once and holds nothing up", .scenario(8))
    func cancelLookup() async throws {
        let (hang, asked) = (Gate(), Counter())
        let engine = try EngineHarness(
            resolver: resolver { _, _ in
                asked.add()
                hang.wait()
                return []
            }
        )
        let pending = await engine.begin(try request("slow.test", 80))
        await asked.reaches(2)
        pending.cancel()
        #expect(await pending.outcome().error == .cancelled)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
        for _ in 0..<2 { hang.open() }
    }

    @Test("cancelled while connecting, then shut down: the descriptor and its timers are gone", .scenario(8))
    func cancelConnect() async throws {
        let server = try RawServer.neverAccepting()
        let engine = try EngineHarness()
        let pending = await engine.begin(try get(server.port))
        #expect(await engine.remains.registrations == 1)
        pending.cancel()
        #expect(await pending.outcome().error == .cancelled)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }
}
