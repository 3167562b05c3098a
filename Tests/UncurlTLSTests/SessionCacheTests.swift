import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@Suite("SessionCache")
struct SessionCacheTests {
    /// A connection with an exchange and an end, as a pool makes them. Whether it was resumed.
    private func connect(_ fixture: TLSFixture, name: String = "localhost", scope: String = "") throws -> Bool {
        let pair = try fixture.pair(name: name, scope: scope)
        try pair.run()
        _ = try pair.write(fromClient: [1, 2, 3])
        _ = try pair.write(fromServer: [4, 5])
        try pair.run()
        #expect(pair.serverReceived == [1, 2, 3])
        #expect(pair.clientReceived == [4, 5])
        let info = try #require(pair.client.info)
        #expect(info.chain?.leafSHA256.count == 32)
        pair.closeClient()
        try pair.run()
        return info.isResumed
    }

    @Test("every reconnect but the first is resumed", arguments: [TLSVersion.v1_2, .v1_3], [1, 2, 4])
    func reconnects(version: TLSVersion, tickets: Int) throws {
        let fixture = try TLSFixture(server: {
            $0.maximumVersion = version
            $0.tickets = tickets
        })
        var resumed = 0
        for _ in 0..<100 where try connect(fixture) { resumed += 1 }
        #expect(resumed == 99)
        #expect(fixture.context.sessions.count <= 8)
    }

    @Test("a connection that ended without close_notify leaves its tickets good")
    func uncleanEnd() throws {
        let fixture = try TLSFixture()
        for round in 0..<10 {
            let pair = try fixture.connected()
            #expect(pair.client.info?.isResumed == (round > 0))
            #expect(pair.client.inputEnded() == .truncated)
        }
    }

    @Test("a TLS 1.3 ticket is offered once; as many as came are kept, eight at most")
    func takenOnce() throws {
        let fixture = try TLSFixture(server: { $0.tickets = 12 })
        _ = try connect(fixture)
        #expect(fixture.context.sessions.count == 8)
        // Handshakes that never get an answer use tickets up.
        var waiting: [MemoryPair] = []
        for left in (0..<8).reversed() {
            let pair = try fixture.pair()
            try pair.stepClient()
            waiting.append(pair)
            #expect(fixture.context.sessions.count == left)
        }
        for pair in waiting {
            try pair.run()
            #expect(pair.client.info?.isResumed == true)
        }
    }

    @Test("a TLS 1.2 session serves many connections at once")
    func sharedSession() throws {
        let fixture = try TLSFixture(server: { $0.maximumVersion = .v1_2 })
        _ = try connect(fixture)
        let pairs = try (0..<10).map { _ in try fixture.pair() }
        for pair in pairs { try pair.run() }
        for pair in pairs { #expect(pair.client.info?.isResumed == true) }
        #expect(fixture.context.sessions.count == 1)
    }

    @Test("names, scopes and contexts do not share sessions")
    func apart() throws {
        let fixture = try TLSFixture()
        #expect(try !connect(fixture))
        #expect(try !connect(fixture, name: "127.0.0.1"))
        #expect(try !connect(fixture, scope: "another port"))
        #expect(try connect(fixture))
        #expect(try connect(fixture, scope: "another port"))
        let other = try TLSFixture()
        #expect(try !connect(other))
    }

    @Test("no session is kept where none is wanted, by either side")
    func off() throws {
        let client = try TLSFixture(client: { $0.resumes = false })
        let server = try TLSFixture(server: { $0.tickets = 0 })
        for fixture in [client, server] {
            for _ in 0..<3 { #expect(try !connect(fixture)) }
            #expect(fixture.context.sessions.count == 0)
        }
    }

    @Test("new roots make an end of the sessions made under the old ones")
    func newRoots() throws {
        let file = TemporaryFile(Array(try TestCertificates.localhost.authorityPEM.utf8))
        let fixture = try TLSFixture(client: { $0.roots = .file(file.path) })
        #expect(try !connect(fixture))
        #expect(try connect(fixture))
        let late = try fixture.pair()
        try late.run()
        file.replace(with: Array(try (TestCertificates.client.authorityPEM + fixture.identity.authorityPEM).utf8))
        #expect(fixture.context.trust.refresh())
        #expect(try !connect(fixture))
        #expect(try connect(fixture))
    }

    @Test("threads share a context")
    func threads() async throws {
        let fixture = try TLSFixture()
        let resumed = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var resumed = 0
                    for round in 0..<25 where try connect(fixture, scope: "\((task + round) % 3)") { resumed += 1 }
                    return resumed
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(resumed >= 80)
    }

    @Test("a server that has forgotten the key of its tickets gets a full handshake")
    func refused() throws {
        for version in [TLSVersion.v1_2, .v1_3] {
            let fixture = try TLSFixture(server: { $0.maximumVersion = version })
            _ = try connect(fixture)
            var configuration = TLSServerConfiguration(fixture.identity)
            configuration.maximumVersion = version
            let restarted = try TLSServerContext(configuration)
            let pair = try MemoryPair(fixture.context, restarted)
            try pair.run()
            #expect(pair.client.info?.isResumed == false)
        }
    }

    @Test("a TLS 1.2 session whose handshake failed is forgotten")
    func spoilt() throws {
        let fixture = try TLSFixture(server: { $0.maximumVersion = .v1_2 })
        _ = try connect(fixture)
        let pair = try fixture.pair()
        pair.toClient = [21, 3, 3, 0, 2, 2, 40]
        #expect(throws: TLSError.alert(TLSAlert(code: 40))) { try pair.run() }
        #expect(fixture.context.sessions.count == 0)
    }

    @Test("the number of hosts is bounded, and those used last stay")
    func bounded() throws {
        let fixture = try TLSFixture(client: { $0.resumableHosts = 8 }, server: { $0.tickets = 1 })
        _ = try connect(fixture, scope: "old")
        for number in 0..<7 { _ = try connect(fixture, scope: "\(number)") }
        #expect(fixture.context.sessions.count == 8)
        #expect(try connect(fixture, scope: "old"))
        _ = try connect(fixture, scope: "one more")
        #expect(fixture.context.sessions.count == 8)
        #expect(try connect(fixture, scope: "old"))
        #expect(try !connect(fixture, scope: "0"))
    }
}
