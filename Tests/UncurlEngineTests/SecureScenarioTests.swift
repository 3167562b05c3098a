import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

/// The scenarios that are about TLS, or come out otherwise with it.
@Suite("Scenarios over TLS", .ownThread, .timeLimit(.minutes(5)))
struct SecureScenarioTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private let untilClose = bytes("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello")

    private func engine(
        clock: ManualClock? = nil,
        _ change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> EngineHarness {
        var configuration = EngineConfiguration()
        var tls = TLSConfiguration()
        tls.roots = .pem(try TestCertificates.localhost.authorityPEM)
        configuration.tls = try TLSContext(tls)
        change(&configuration)
        return try EngineHarness(configuration, clock: clock)
    }

    private func context(_ change: (inout TLSServerConfiguration) -> Void = { _ in }) throws -> TLSServerContext {
        var configuration = TLSServerConfiguration(certificate: .init(try TestCertificates.localhost))
        change(&configuration)
        return try TLSServerContext(configuration)
    }

    private func get(
        _ port: UInt16,
        _ target: String = "/",
        _ change: (inout EngineRequest.Options) -> Void = { _ in }
    ) throws -> EngineRequest {
        var options = EngineRequest.Options()
        change(&options)
        let origin = try Origin(scheme: .https, host: "127.0.0.1", port: port)
        return try EngineRequest(origin: origin, target: target, options: options)
    }

    // MARK: Ends

    @Test("cancelled in the handshake, an exchange ends at once and leaves nothing", .scenario(8))
    func cancelHandshake() async throws {
        let server = try RawServer.start()
        let engine = try engine()
        let pending = await engine.begin(try get(server.port))
        try server.waitForBytes(1, on: 0)
        pending.cancel()
        #expect(await pending.outcome().error == .cancelled)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
        try server.waitForEnd(of: 0)
    }

    @Test(
        "content until close is whole with a close_notify, whatever follows it",
        .scenario(21),
        arguments: RawEnding.allCases
    )
    func closeNotify(ending: RawEnding) async throws {
        let step: RawStep =
            switch ending {
            case .fin: .finish
            case .reset: .close
            case .stall: .stall
            }
        let script: RawScript = [.receive(.headEnd), .send(untilClose), .closeNotify, step]
        let server = try RawServer.start(otherwise: script.secured(by: try context()))
        let result = await (try engine()).run(try get(server.port))
        #expect(result.succeeded && result.text == "hello")
    }

    @Test("without a close_notify content with a length is whole, and content that lacks some of its length says so")
    func missingCloseNotify() async throws {
        for (length, error) in [(5, nil), (9, EngineError.truncatedBody(expected: 9, received: 5, nil))] {
            let answer = RawStep.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello")
            let script: RawScript = [.receive(.headEnd), answer, .finish]
            let server = try RawServer.start(otherwise: script.secured(by: try context()))
            #expect(await (try engine()).run(try get(server.port)).error == error)
        }
    }

    @Test(
        "an end inside the handshake is told as that, or as what began in place of TLS",
        arguments: [
            ([], TLSError.closedInHandshake), ([22, 3, 3], .closedInHandshake),
            ([21, 3, 3, 0, 2, 1, 0], .closeNotifyInHandshake),
            (bytes("HTTP"), .notTLS(firstBytes: bytes("HTTP"))), (bytes("HTTP/"), .plainHTTP),
        ] as [([UInt8], TLSError)]
    )
    func endInHandshake(greeting: [UInt8], error: TLSError) async throws {
        let server = try RawServer.start(otherwise: [.receive(.bytes(5)), .send(greeting), .finish])
        #expect(await (try engine()).run(try get(server.port)).error == .tls(error))
    }

    @Test(
        "a request without TLS that a server answers with a TLS alert fails with an error that names TLS",
        arguments: [0, 1]
    )
    func plainToSecure(piece: Int) async throws {
        let server = try RawServer.start(otherwise: [
            .pieces(of: piece), .receive(.headEnd), .send([21, 3, 1, 0, 2, 2, 70]), .finish,
        ])
        let request = try EngineRequest(
            origin: Origin(scheme: .http, host: "127.0.0.1", port: server.port),
            target: "/"
        )
        let error = try #require(await (try engine()).run(request).error)
        #expect(error == .malformedResponse(HTTP1Error(.tlsAlert, offset: 0)))
        #expect("\(error)" == "the server answers plain HTTP with a TLS alert: it speaks TLS on this port")
    }

    @Test(
        "content until close without a close_notify is cut off, unless the caller puts up with that; an RST always cuts it off",
        .scenario(22)
    )
    func truncation() async throws {
        let script: RawScript = [.receive(.headEnd), .send(untilClose), .finish]
        let server = try RawServer.start(otherwise: script.secured(by: try context()))
        let engine = try engine()
        let strict = await engine.run(try get(server.port))
        #expect(strict.error == .tls(.truncated))
        #expect(strict.text == "hello", "what came is delivered all the same")
        let tolerant = await engine.run(try get(server.port) { $0.toleratesMissingCloseNotify = true })
        #expect(tolerant.succeeded && tolerant.text == "hello")
        let gate = RawGate()
        let abrupt: RawScript = [.receive(.headEnd), .send(untilClose), .wait(gate), .reset]
        let resetting = try RawServer.start(otherwise: abrupt.secured(by: try context()))
        let result = await engine.run(try get(resetting.port) { $0.toleratesMissingCloseNotify = true }) {
            $0.onBytes = { _, _ in gate.open() }
        }
        #expect(result.error == .truncatedBody(expected: nil, received: 5, .connectionReset))
    }

    @Test("a close_notify or FIN on an idle connection ends it, and is no news to anyone", .scenario(33))
    func idleEnd() async throws {
        for steps in [[RawStep.closeNotify], [.closeNotify, .finish], [.finish]] {
            let gate = RawGate()
            let script = RawScript([.receive(.headEnd), .send(ok), .wait(gate)] + steps)
            let later = RawScript.answering(ok).secured(by: try context())
            let server = try RawServer.start([script.secured(by: try context())], otherwise: later)
            let engine = try engine()
            #expect(await engine.run(try get(server.port)).text == "ok")
            gate.open()
            while await engine.statistics.idle > 0 {}
            let second = await engine.run(try get(server.port))
            #expect(second.text == "ok" && second.report?.retried == false)
            #expect(second.report?.reusedConnection == false)
        }
    }

    // MARK: What is no handshake

    @Test("garbage, an alert and plain HTTP in place of a ServerHello are told apart", .scenario(35))
    func noServerHello() async throws {
        let answers: [([UInt8], (EngineError?) -> Bool)] = [
            (bytes("SSH-2.0-OpenSSH_9.2\r\n"), { if case .tls(.notTLS)? = $0 { true } else { false } }),
            // A fatal handshake_failure (RFC 8446 §6.2).
            ([21, 3, 3, 0, 2, 2, 40], { if case .tls(.alert(let alert))? = $0 { alert.code == 40 } else { false } }),
            (bytes("HTTP/1.1 400 Bad Request\r\n\r\n"), { $0 == .tls(.plainHTTP) }),
        ]
        let engine = try engine()
        for (answer, isExpected) in answers {
            let server = try RawServer.start(otherwise: [.receive(.bytes(1)), .send(answer), .finish])
            let error = await engine.run(try get(server.port)).error
            #expect(isExpected(error), "\(String(describing: error))")
        }
        #expect(EngineError.tls(.plainHTTP).description.contains("plain HTTP"))
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    // MARK: Handshakes and records

    @Test("a stall at any point of the handshake ends by the limit on connecting", .scenario(36))
    func stall() async throws {
        let clock = ManualClock()
        let engine = try engine(clock: clock) { $0.timeouts.connect = .seconds(3) }
        // Nothing at all, half a record's header, and a record that is never whole.
        for beginning in [[], [22, 3], [22, 3, 3, 0, 100, 2, 0]] as [[UInt8]] {
            let server = try RawServer.start(otherwise: [.receive(.bytes(1)), .send(beginning)])
            let pending = await engine.begin(try get(server.port))
            try server.wait(for: 0, "the beginning") { $0.stepsDone == 2 }
            clock.advance(by: .milliseconds(2_900), waking: engine.loop)
            await engine.passTimers()
            #expect(!pending.isFinished)
            clock.advance(by: .milliseconds(200), waking: engine.loop)
            #expect(await pending.outcome().error == .timedOut(.handshake))
        }
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test("one byte a segment and a record, new keys within the body: the same bytes", .scenario(12, 36))
    func splitRecords() async throws {
        let content = String(repeating: "0123456789", count: 40)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(content.utf8.count * 3)\r\n\r\n"
        let server = try RawServer.start(otherwise: [
            .pieces(of: 1), .handshake(try context()), .records(of: 1), .receive(.headEnd), .send(head), .send(content),
            .keyUpdate(askingPeer: true), .send(content), .keyUpdate(askingPeer: false), .records(of: 0),
            .send(content),
            .startOver,
        ])
        let engine = try engine()
        for index in 0..<3 {
            let result = await engine.run(try get(server.port))
            #expect(result.succeeded && result.text == content + content + content)
            #expect(result.report?.reusedConnection == (index > 0), "the answer to the key update has left")
        }
    }

    @Test("tickets that come while a connection is idle neither end it nor are lost", .scenario(36))
    func lateTickets() async throws {
        // The server's tickets follow its Finished: a client that has nothing to read finds them when it is idle.
        let server = try TestServer.start(tls: try context { $0.tickets = 8 })
        defer { server.stop() }
        let engine = try engine()
        #expect(await engine.run(try get(server.port, "/get")).status == 200)
        for _ in 0..<20 { _ = await engine.statistics }
        #expect(await engine.run(try get(server.port, "/get")).report?.reusedConnection == true)
    }

    @Test("a server that wants to renegotiate is refused, and nothing hangs", .scenario(36))
    func renegotiation() async throws {
        let identity = try TestCertificates.localhost
        let server = try OpenSSLServer(chain: identity.chainPEM, key: identity.keyPEM, ["-tls1_2", "-crlf"])
        let engine = try engine()
        let received = Counter()
        let pending = await engine.begin(try get(server.port)) { $0.onBytes = { _, count in received.add(count) } }
        try server.wait(for: "GET / HTTP/1.1")
        server.type("HTTP/1.1 200 OK\nContent-Length: 100\n\nhello")
        await received.reaches(5)
        server.type("r")
        let result = await pending.outcome()
        #expect(!result.succeeded && result.text.hasPrefix("hello"))
        switch result.error {
        case .tls, .truncatedBody: break
        default: Issue.record("\(String(describing: result.error))")
        }
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    // MARK: The kernel

    @Test(
        "signals, refusals and a few bytes a call are nothing to TLS",
        .scenario(10, 11, 12),
        arguments: [1, 7, 4_096]
    )
    func trickle(count: Int) async throws {
        let server = try TestServer.start(tls: try context())
        defer { server.stop() }
        let engine = try engine()
        await engine.onLoop { engine in
            let plan = FaultPlan(seed: 12)
            plan.maximumBytes = count
            plan.blockPercent = 40
            plan.interruptPercent = 40
            engine.loop.faults = plan
        }
        #expect(await engine.run(try get(server.port, "/bytes/4000?seed=1")).body.count == 4_000)
        let body = (0..<4_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let echo = try EngineRequest(
            method: "POST",
            origin: Origin(scheme: .https, host: "127.0.0.1", port: server.port),
            target: "/echo",
            body: .stream(length: nil, replayable: false)
        )
        let result = await engine.run(echo) { $0.bodyParts = [.bytes(body), .bytes(body), .end(trailers: nil)] }
        #expect(result.succeeded && result.body == body + body)
    }
}
