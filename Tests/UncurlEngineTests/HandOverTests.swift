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

/// What has come on a connection between two exchanges: another answer than was asked for, or the server's end.
@Suite("A connection is looked at before it is handed over", .ownThread, .timeLimit(.minutes(5)))
struct HandOverTests {
    private static let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst")
    private static let stray = bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray")
    private static let next = bytes("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")

    /// A second answer without a request, once the gate is open; every later connection is honest.
    private func poisoner(_ gate: RawGate) throws -> RawServer {
        try RawServer.start(
            [[.receive(.headEnd), .send(Self.ok), .wait(gate), .send(Self.stray)]],
            otherwise: .answering(Self.next)
        )
    }

    @Test("a second answer that came while the loop was held does not answer the next request")
    func idle() async throws {
        let gate = RawGate()
        let server = try poisoner(gate)
        let engine = try EngineHarness()
        #expect(await engine.run(try get(server.port)).text == "first")
        let request = try get(server.port)
        let outcome = Word<Recorded>()
        engine.handle.post { engine in
            gate.open()
            #expect(engine.waitForNews())
            Recorder(engine) { outcome.give($0) }.start(request)
        }
        #expect(await outcome.wait("the second request")?.text == "next")
        #expect(server.connections.count == 2)
    }

    @Test("a second answer does not answer a request that is started from within the outcome of the first")
    func warm() async throws {
        let gate = RawGate()
        let server = try poisoner(gate)
        let engine = try EngineHarness()
        let request = try get(server.port)
        let outcome = Word<Recorded>()
        let first = await engine.run(request) {
            $0.onFinish = { recorder in
                gate.open()
                #expect(recorder.engine.waitForNews())
                Recorder(recorder.engine) { outcome.give($0) }.start(request)
            }
        }
        #expect(first.text == "first")
        #expect(await outcome.wait("the second request")?.text == "next")
    }

    @Test("a second answer does not answer a request that has waited for the connection")
    func waiting() async throws {
        let gate = RawGate()
        let server = try poisoner(gate)
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        let engine = try EngineHarness(configuration)
        let request = try get(server.port)
        let first = await engine.begin(request) {
            $0.onBytes = { recorder, _ in
                gate.open()
                #expect(recorder.engine.waitForNews())
            }
        }
        let second = await engine.begin(request)
        #expect(await first.outcome().text == "first")
        #expect(await second.outcome().text == "next")
    }

    @Test("a second answer that came during a pause does not answer a request that has waited for the connection")
    func paused() async throws {
        let gate = RawGate()
        let server = try poisoner(gate)
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        // Time stands still: by the clock, the first answer has ended just now.
        let engine = try EngineHarness(configuration, clock: ManualClock())
        let request = try get(server.port)
        let pauses = Counter()
        let first = await engine.begin(request) {
            $0.onHead = { recorder, _ in
                recorder.engine.pause(recorder.id)
                pauses.add()
            }
        }
        await pauses.reaches(1)
        let second = await engine.begin(request)
        gate.open()
        await until { await engine.onLoop { $0.connections.all.first?.holdsStrayBytes == true } }
        first.resume()
        #expect(await first.outcome().text == "first")
        #expect(await second.outcome().text == "next")
    }

    @Test("a second answer does not answer a waiting request if the first ends where a read does")
    func fullRead() async throws {
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(Self.ok + Self.stray)]],
            otherwise: .answering(Self.next)
        )
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        let engine = try EngineHarness(configuration, clock: ManualClock())
        // No read takes more than the rate allows.
        var options = EngineRequest.Options()
        options.receivingRate = TransferRate(bytesPerSecond: 1, burst: Self.ok.count)
        let (request, waiting) = (
            try EngineRequest(origin: origin(server.port), options: options), try get(server.port)
        )
        let outcome = Word<Recorded>()
        let first = await engine.begin(request) { recorder in
            recorder.onHead = { recorder, _ in Recorder(recorder.engine) { outcome.give($0) }.start(waiting) }
        }
        #expect(await first.outcome().text == "first")
        #expect(await outcome.wait("the second request")?.text == "next")
    }

    @Test("over TLS neither")
    func secure() async throws {
        let gate = RawGate()
        let identity = try TestCertificates.localhost
        let context = try TLSServerContext(TLSServerConfiguration(certificate: .init(identity)))
        let server = try RawServer.start(
            [RawScript([.receive(.headEnd), .send(Self.ok), .wait(gate), .send(Self.stray)]).secured(by: context)],
            otherwise: RawScript.answering(Self.next).secured(by: context)
        )
        var tls = TLSConfiguration()
        tls.roots = .pem(identity.authorityPEM)
        var configuration = EngineConfiguration()
        configuration.tls = try TLSContext(tls)
        let engine = try EngineHarness(configuration)
        let request = try EngineRequest(origin: Origin(scheme: .https, host: "localhost", port: server.port))
        #expect(await engine.run(request).text == "first")
        let outcome = Word<Recorded>()
        engine.handle.post { engine in
            gate.open()
            #expect(engine.waitForNews())
            Recorder(engine) { outcome.give($0) }.start(request)
        }
        #expect(await outcome.wait("the second request")?.text == "next")
    }

    // MARK: Closed meanwhile

    private func post(_ port: UInt16) throws -> EngineRequest {
        try EngineRequest(method: "POST", origin: origin(port), body: .bytes(bytes("once")))
    }

    @Test("a POST that meets a connection closed before any of it arrived is sent again, once, and served once")
    func closedBefore() async throws {
        let gate = RawGate()
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(Self.ok), .wait(gate), .close]],
            otherwise: [.receive(.headEnd), .receive(.bytes(4)), .send(Self.next)]
        )
        let engine = try EngineHarness()
        #expect(await engine.run(try get(server.port)).text == "first")
        let request = try post(server.port)
        let outcome = Word<Recorded>()
        engine.handle.post { engine in
            gate.open()
            #expect(engine.waitForNews())
            engine.lookInVain()
            Recorder(engine) { outcome.give($0) }.start(request)
        }
        let result = try #require(await outcome.wait("the POST"))
        #expect(result.text == "next")
        #expect(result.report?.retried == true)
        #expect(!server.connections[0].receivedText.contains("POST"))
        #expect(server.connections[1].receivedText.ranges(of: "POST ").count == 1)
    }

    @Test(
        "a POST does not follow at once on a connection of a server that closed one right after an answer; a GET does"
    )
    func closingServer() async throws {
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(Self.ok), .close]],
            otherwise: [
                .receive(.headEnd), .receive(.bytes(4)), .send(Self.next), .receive(.headEnd), .send(Self.next),
            ]
        )
        let engine = try EngineHarness()
        engine.handle.post { $0.closingServers = ClosingServers(haste: .seconds(600)) }
        #expect(await engine.run(try get(server.port)).text == "first")
        // The close is seen by the loop, or by the look before the next hand-over.
        engine.handle.post { engine in
            #expect(engine.connections.count == 0 || engine.waitForNews())
        }
        for count in [2, 3] {
            #expect(await engine.run(try post(server.port)).text == "next")
            #expect(server.connections.count == count)
        }
        #expect(await engine.run(try get(server.port)).text == "next")
        #expect(server.connections.count == 3)
    }

    @Test(
        "a close that comes together with an answer counts, unless the request had asked for it",
        arguments: [true, false]
    )
    func closedWithAnswer(isAskedFor: Bool) async throws {
        let gate = RawGate()
        let server = try RawServer.start(
            [[.receive(.headEnd), .wait(gate), .send(Self.ok), .close]],
            otherwise: [
                .receive(.headEnd), .receive(.bytes(4)), .send(Self.next), .receive(.headEnd), .receive(.bytes(4)),
                .send(Self.next),
            ]
        )
        let engine = try EngineHarness()
        var fields = HTTPFields()
        if isAskedFor { try fields.append("Connection", "close") }
        let first = await engine.begin(try EngineRequest(origin: origin(server.port), fields: fields))
        // The loop sees answer and end at once.
        engine.handle.post { engine in
            engine.closingServers = ClosingServers(haste: .seconds(600))
            gate.open()
            do { try server.wait(for: 0, "the close") { $0.stepsDone == 4 } } catch { Issue.record(error) }
        }
        #expect(await first.outcome().text == "first")
        for _ in 0..<2 { #expect(await engine.run(try post(server.port)).text == "next") }
        #expect(server.connections.count == (isAskedFor ? 2 : 3))
    }

    @Test(
        "a POST that the server has taken before it closes, by FIN or by RST, is not sent again",
        arguments: [true, false]
    )
    func closedAfter(byReset: Bool) async throws {
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(Self.ok), .receive(.headEnd), .receive(.bytes(4)), byReset ? .reset : .close]],
            otherwise: [.receive(.headEnd), .receive(.bytes(4)), .send(Self.next)]
        )
        let engine = try EngineHarness()
        #expect(await engine.run(try get(server.port)).text == "first")
        let result = await engine.run(try post(server.port))
        guard case .closedBeforeResponse = result.error else {
            Issue.record("\(result)")
            return
        }
        #expect(server.connections.count == 1)
    }
}

extension Engine {
    /// Holds the loop until something lies unread in the socket of the only connection, and the last read is no longer
    /// taken for proof that it is empty; false after a minute.
    func waitForNews() -> Bool {
        guard let connection = connections.all.first else { return false }
        let limit = Instant.current().advanced(by: .seconds(60))
        while connection.isQuiet || connection.isJustDrained {
            if Instant.current() > limit { return false }
        }
        return true
    }
}
