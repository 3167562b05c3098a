import CUncurlLinux
import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Connector")
struct ConnectorTests {
    /// A resolver whose names lead to addresses of this machine.
    private static func resolver(
        _ lookup: @escaping Resolver.LookupFunction = { _, family in family == .v4 ? [.v4(.loopback)] : [] }
    ) -> Resolver {
        var options = Resolver.Options()
        options.lookup = lookup
        return Resolver(options: options)
    }

    /// Runs one connector to its end.
    private func outcome(
        _ target: Connector.Target,
        resolver: Resolver = resolver(),
        options: Connector.Options = Connector.Options()
    ) throws -> Owner {
        let bench = try LoopBench()
        let owner = Owner(bench.loop)
        owner.start(target, resolver, options)
        #expect(owner.outcomes == 0, "called from within start")
        bench.run()
        #expect(owner.outcomes == 1)
        owner.close()
        #expect(bench.loop.armedTimers == 0)
        return owner
    }

    /// A port where nobody listens.
    private func closedPort() throws -> SocketAddress { try Peer().address }

    // MARK: Success

    @Test("the socket comes connected, registered for reading, and says how it came about")
    func connects() throws {
        let peer = try Peer()
        let owner = try outcome(.addresses([peer.address]))
        let timings = try #require(owner.timings)
        #expect(timings.address == peer.address)
        #expect(timings.attempts == 1)
        #expect(timings.lookupStart == nil && timings.lookupEnd == nil)
        #expect(timings.connectStart <= timings.connectEnd)
    }

    @Test("the registration handed over reports the peer's bytes and its end")
    func registration() throws {
        let bench = try LoopBench()
        let peer = try Peer()
        let owner = Owner(bench.loop, stopsAtOutcome: false)
        owner.start(.addresses([peer.address]), Self.resolver(), Connector.Options())
        bench.when(
            { owner.outcomes == 1 },
            then: {
                guard let server = try? peer.accept() else { return }
                Wire.send(server.number, "x")
            }
        )
        owner.probe.onReady = { if $0.contains(.peerFinished) { bench.loop.stop() } }
        bench.run()
        #expect(owner.probe.seen.contains { $0.contains(.readable) })
        owner.close()
    }

    @Test("names are looked up, and the time it took is told")
    func names() throws {
        let peer = try Peer()
        let owner = try outcome(.host("example.test", port: try #require(peer.address.port)))
        let timings = try #require(owner.timings)
        #expect(timings.address == peer.address)
        #expect(timings.lookupStart != nil)
        #expect(timings.lookupEnd == timings.connectStart)
    }

    @Test("localhost tries ::1 first, goes on to 127.0.0.1 at once, and remembers which won")
    func localhost() throws {
        let peer = try Peer()
        let port = try #require(peer.address.port)
        let resolver = Self.resolver { host, _ in
            Issue.record("looked up \(host)")
            return []
        }
        let first = try outcome(.host("localhost", port: port), resolver: resolver)
        #expect(first.timings?.attempts == 2)
        let second = try outcome(.host("localhost", port: port), resolver: resolver)
        #expect(second.timings?.attempts == 1)
        #expect(second.timings?.address == peer.address)
    }

    @Test("unix sockets connect, by path and by abstract name")
    func unix() throws {
        let path = "/tmp/uncurl-connector-\(getpid()).sock"
        defer { unlink(path) }
        for name in [UnixName(path: path), UnixName(abstract: "uncurl-connector-\(getpid())")] {
            let peer = try Peer(at: .unix(try #require(name)))
            #expect(try outcome(.addresses([peer.address])).timings?.address == peer.address)
        }
    }

    @Test("a unix listener with a full backlog is asked again until it has room")
    func fullBacklog() throws {
        let bench = try LoopBench(manual: true)
        let clock = try #require(bench.clock)
        let peer = try Peer(at: .unix(try #require(UnixName(abstract: "uncurl-backlog-\(getpid())"))), backlog: 0)
        let held = try peer.fill()
        let owner = Owner(bench.loop)
        owner.start(.addresses([peer.address]), Self.resolver(), Connector.Options())
        bench.after(turns: 3) {
            clock.advance(by: .milliseconds(50), waking: bench.loop)
            bench.after(turns: 3) {
                #expect(owner.outcomes == 0)
                for _ in held { _ = try? peer.accept() }
                clock.advance(by: .milliseconds(50), waking: bench.loop)
            }
        }
        bench.run()
        #expect(owner.timings?.attempts == 1)
        owner.close()
        for socket in held { close(socket) }
    }

    @Test("a local address of one family leaves out the other")
    func localAddress() throws {
        let peer = try Peer()
        var options = Connector.Options()
        options.localAddress = .v4(IPv4Address(bits: 0x7F00_0021), port: 0)
        let resolver = Self.resolver { _, family in
            #expect(family == .v4)
            return [.v4(.loopback)]
        }
        let owner = try outcome(
            .host("example.test", port: try #require(peer.address.port)),
            resolver: resolver,
            options: options
        )
        #expect(owner.timings?.attempts == 1)
        let six = try outcome(.addresses([.loopback6(port: 1)]), options: options)
        #expect(six.error == ConnectError(attempts: [], resolution: nil))
    }

    // MARK: Races

    @Test("a dead first address costs one attempt delay, and its socket is closed", .scenario(4))
    func deadFirst() throws {
        let bench = try LoopBench(manual: true)
        let clock = try #require(bench.clock)
        let (dead, alive) = (try Peer(backlog: 0), try Peer())
        let held = try dead.fill()
        let owner = Owner(bench.loop)
        owner.start(.addresses([dead.address, alive.address]), Self.resolver(), Connector.Options())
        bench.after(turns: 3) {
            clock.advance(by: .milliseconds(240), waking: bench.loop)
            bench.after(turns: 3) {
                #expect(owner.outcomes == 0)
                #expect(bench.loop.registrations == 1)
                clock.advance(by: .milliseconds(20), waking: bench.loop)
            }
        }
        bench.run()
        #expect(owner.timings?.address == alive.address)
        #expect(owner.timings?.attempts == 2)
        #expect(owner.timings.map { $0.connectEnd.nanoseconds(since: $0.connectStart) } == 260_000_000)
        owner.close()
        #expect(bench.loop.registrations == 0)
        for socket in held { close(socket) }
    }

    @Test(
        "the first address hangs and the second takes 400 ms: it wins at 650, the first not given up before",
        .scenario(5)
    )
    func bothSlow() throws {
        let bench = try LoopBench(manual: true)
        let clock = try #require(bench.clock)
        let dead = try Peer(at: .loopback6(), backlog: 0)
        let slow = try Peer(at: .unix(try #require(UnixName(abstract: "uncurl-slow-\(getpid())"))), backlog: 0)
        let held = (try dead.fill(), try slow.fill())
        let owner = Owner(bench.loop)
        owner.start(.addresses([dead.address, slow.address]), Self.resolver(), Connector.Options())
        var spent = 0
        func step() {
            clock.advance(by: .milliseconds(10), waking: bench.loop)
            spent += 10
            bench.after(turns: 2) {
                guard owner.outcomes == 0, spent < 1_000 else { return }
                #expect(bench.loop.registrations == 1, "the first address is still being tried")
                if spent == 640 { for _ in held.1 { _ = try? slow.accept() } }
                step()
            }
        }
        bench.after(turns: 3) { step() }
        bench.run()
        #expect(owner.timings?.address == slow.address)
        #expect((650...680).contains(spent))
        owner.close()
        #expect(bench.loop.registrations == 0)
        for socket in held.0 + held.1 { close(socket) }
    }

    @Test("an AAAA look-up that hangs holds A back for 50 ms and no more", .scenario(6))
    func hangingLookup() throws {
        let bench = try LoopBench(manual: true)
        let clock = try #require(bench.clock)
        let peer = try Peer()
        let (hang, answered) = (Gate(), Gate())
        let resolver = Self.resolver { _, family in
            if family == .v6 { hang.wait() } else { answered.open() }
            return [.v4(.loopback)]
        }
        let owner = Owner(bench.loop)
        owner.start(.host("example.test", port: try #require(peer.address.port)), resolver, Connector.Options())
        bench.when(
            { bench.loop.armedTimers == 1 },
            then: {
                clock.advance(by: .milliseconds(40), waking: bench.loop)
                bench.after(turns: 3) {
                    #expect(owner.outcomes == 0)
                    #expect(bench.loop.registrations == 0)
                    clock.advance(by: .milliseconds(20), waking: bench.loop)
                }
            }
        )
        bench.run()
        #expect(owner.timings?.address == peer.address)
        owner.close()
        hang.open()
    }

    // MARK: Failure

    @Test("a refused address is followed by the next at once")
    func refusedThenGood() throws {
        let peer = try Peer()
        let owner = try outcome(.addresses([try closedPort(), try closedPort(), peer.address]))
        #expect(owner.timings?.attempts == 3)
    }

    @Test("when all fail the error holds every attempt")
    func allRefused() throws {
        let addresses = [try closedPort(), try closedPort()]
        let error = try #require(try outcome(.addresses(addresses)).error)
        #expect(error.attempts == addresses.map { ConnectError.Attempt(address: $0, errno: .connectionRefused) })
        #expect(error.resolution == nil)
    }

    @Test("no address, no file, no such local address: each says so")
    func hopeless() throws {
        #expect(try outcome(.addresses([])).error == ConnectError(attempts: [], resolution: nil))
        let missing = SocketAddress.unix(try #require(UnixName(path: "/tmp/uncurl-no-such-socket")))
        #expect(try outcome(.addresses([missing])).error?.errno == .noSuchFile)
        var options = Connector.Options()
        options.localAddress = .v4(IPv4Address(bits: 0xC000_0201), port: 0)
        let foreign = try outcome(.addresses([try closedPort()]), options: options).error
        #expect(foreign?.isPortExhaustion == true)
    }

    @Test(
        "a failed look-up is the error",
        arguments: [ResolveError.noSuchHost, .noAddress, .temporaryFailure, .system(.tooManyOpenFiles)]
    )
    func lookupFails(error: ResolveError) throws {
        let resolver = Self.resolver { _, _ throws(ResolveError) in throw error }
        let owner = try outcome(.host("example.test", port: 80), resolver: resolver)
        #expect(owner.error == ConnectError(attempts: [], resolution: error))
    }

    @Test("a server that fails for one family says more than a name without addresses in the other")
    func mixedLookupErrors() throws {
        let resolver = Self.resolver { _, family throws(ResolveError) in
            throw family == .v4 ? .temporaryFailure : .noSuchHost
        }
        #expect(try outcome(.host("example.test", port: 80), resolver: resolver).error?.resolution == .temporaryFailure)
    }

    @Test("what is no host name fails like any other")
    func noName() throws {
        for (host, reason) in [("", ResolveError.emptyName), ("127.1", .invalidName), ("a\0b", .invalidName)] {
            #expect(try outcome(.host(host, port: 80)).error?.resolution == reason)
        }
    }

    @Test("of 64 addresses sixteen are tried")
    func manyAddresses() throws {
        let port = try #require(try closedPort().port)
        let resolver = Self.resolver { _, family in
            family == .v6 ? [] : (1...64).map { .v4(IPv4Address(bits: 0x7F00_0100 + $0)) }
        }
        #expect(try outcome(.host("example.test", port: port), resolver: resolver).error?.attempts.count == 16)
    }

    @Test("out of descriptors the error says so, and the other addresses are not tried", .scenario(9))
    func outOfDescriptors() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let owner = Owner(loop)
            guard uncurl_set_nofile(3, 3) == 0 else { exit(2) }
            owner.start(
                .addresses([.loopback(port: 1), .loopback(port: 2)]),
                Resolver(),
                Connector.Options()
            )
            loop.run()
            guard let error = owner.error, error.isResourceExhaustion, error.attempts.count == 1 else { exit(3) }
            // Not exit: a leak checker at the end would want descriptors.
            _exit(0)
        }
    }

    // MARK: Cancelling

    @Test(
        "cancelled in any state it closes everything and says nothing",
        arguments: ["fresh", "lookup", "connect", "failed"]
    )
    func cancel(state: String) throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let dead = try Peer(backlog: 0)
        let held = try dead.fill()
        let hang = Gate()
        let resolver = Self.resolver { _, _ in
            hang.wait()
            return []
        }
        let target: Connector.Target =
            switch state {
            case "connect": .addresses([dead.address])
            case "failed": .addresses([])
            default: .host("example.test", port: 80)
            }
        let owner = Owner(loop)
        let connector = Connector(on: loop, resolver: resolver, to: target, delegate: owner)
        if state != "fresh" { connector.start() }
        #expect(loop.registrations == (state == "connect" ? 1 : 0))
        connector.cancel()
        connector.cancel()
        connector.start()
        #expect(loop.registrations == 0)
        #expect(loop.armedTimers == 0)
        hang.open()
        bench.after(turns: 20) { loop.stop() }
        bench.run()
        #expect(owner.outcomes == 0)
        for socket in held { close(socket) }
    }

    @Test("a connector that has ended holds neither its delegate nor its loop")
    func letsGo() throws {
        let peer = try Peer()
        weak var connector: Connector?
        weak var owner: Owner?
        do {
            let bench = try LoopBench()
            let strong = Owner(bench.loop)
            strong.start(.addresses([peer.address]), Self.resolver(), Connector.Options())
            (owner, connector) = (strong, strong.connector)
            bench.run()
            strong.close()
        }
        #expect(connector == nil)
        #expect(owner == nil)
    }
}

/// Takes what a connector brings.
private final class Owner: ConnectorDelegate {
    private let loop: EventLoop
    private let stopsAtOutcome: Bool
    private(set) var connector: Connector?
    private(set) var timings: ConnectTimings?
    private(set) var error: ConnectError?
    private(set) var outcomes = 0
    private var socket: Socket?
    private var token: Token?
    let probe = Probe()

    init(_ loop: EventLoop, stopsAtOutcome: Bool = true) {
        self.loop = loop
        self.stopsAtOutcome = stopsAtOutcome
    }

    func start(_ target: Connector.Target, _ resolver: Resolver, _ options: Connector.Options) {
        connector = Connector(on: loop, resolver: resolver, to: target, options: options, delegate: self)
        connector?.start()
    }

    func connector(_ connector: Connector, didConnect socket: consuming Socket, token: Token, timings: ConnectTimings) {
        self.timings = timings
        self.token = token
        self.socket = consume socket
        loop.handOver(token, to: probe)
        ended()
    }

    func connector(_ connector: Connector, didFail error: ConnectError) {
        self.error = error
        ended()
    }

    func close() {
        if let token { loop.deregister(token) }
        socket = nil
    }

    private func ended() {
        outcomes += 1
        #expect(loop.isCurrent)
        if stopsAtOutcome { loop.stop() }
    }
}
