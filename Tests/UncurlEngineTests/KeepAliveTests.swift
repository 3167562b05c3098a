import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlTestServer

@Suite("Keep-alive and stale connections", .ownThread)
struct KeepAliveTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("requests one after the other share a connection")
    func reuse() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        let engine = try EngineHarness()
        for index in 0..<20 {
            let result = await engine.run(try get(server.port))
            #expect(result.text == "ok")
            #expect(result.report?.reusedConnection == (index > 0))
        }
        #expect(server.connections.count == 1)
    }

    @Test(
        "a response that ends its connection, or has bytes behind it, is not followed by another on it",
        .scenario(32),
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: foo, CLOSE\r\n\r\nok",
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=1\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: max=0\r\n\r\nok",
        ]
    )
    func notReused(response: String) async throws {
        let server = try RawServer.start(otherwise: .answering(bytes(response)))
        let engine = try EngineHarness()
        #expect(await engine.run(try get(server.port)).text == "ok")
        #expect(await engine.run(try get(server.port)).report?.reusedConnection == false)
        try server.waitForConnections(2)
    }

    @Test("the server's hints count from the response that gives them: a later limit, and so many requests more")
    func hints() async throws {
        let first = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let second = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=10, max=2\r\n\r\n"
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .send(first), .receive(.headEnd), .send(second), .receive(.headEnd), .send(first),
            .receive(.headEnd), .send(first),
        ])
        let clock = ManualClock()
        let engine = try EngineHarness(clock: clock)
        for _ in 0..<2 { #expect(await engine.run(try get(server.port)).succeeded) }
        clock.advance(by: .milliseconds(9_100), waking: engine.loop)
        await engine.passTimers()
        #expect(await engine.statistics.idle == 0)
        for _ in 0..<4 { #expect(await engine.run(try get(server.port)).succeeded) }
        #expect(server.connections.count == 2)
        #expect(await engine.statistics.idle == 0, "two more were promised, and two it served")
    }

    @Test("a caller's own Connection: close is kept to")
    func callerCloses() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        let engine = try EngineHarness()
        var fields = HTTPFields()
        try fields.append("Connection", "close")
        #expect(await engine.run(try EngineRequest(origin: origin(server.port), fields: fields)).text == "ok")
        #expect(await engine.statistics == EngineStatistics())
    }

    @Test("HTTP/1.0 with keep-alive is reused")
    func oldKeepAlive() async throws {
        let response = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
        let server = try RawServer.start(otherwise: .answering(bytes(response)))
        let engine = try EngineHarness()
        _ = await engine.run(try get(server.port))
        #expect(await engine.run(try get(server.port)).report?.reusedConnection == true)
    }

    @Test(
        "bytes, a FIN or an RST on an idle connection close it, and none is taken for an answer",
        .scenario(23, 31, 33)
    )
    func strayBytes() async throws {
        for ending in [RawStep.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"), .close, .reset] {
            let gate = RawGate()
            let server = try RawServer.start(
                [[.receive(.headEnd), .send(ok), .wait(gate), ending]],
                otherwise: .answering(ok)
            )
            let engine = try EngineHarness()
            #expect(await engine.run(try get(server.port)).text == "ok")
            gate.open()
            // The engine's own close is what the server sees; a FIN or RST of the server's needs no answer.
            while await engine.statistics.idle > 0 {}
            let second = await engine.run(try get(server.port))
            #expect(second.status == 200 && second.text == "ok")
            #expect(second.report?.reusedConnection == false)
            #expect(second.report?.retried == false)
        }
    }

    @Test("a GET that meets a closing connection is sent again, once, on a fresh one", .scenario(14))
    func staleGet() async throws {
        // The server takes the second request and closes: the race, made certain.
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(ok), .receive(.headEnd), .close]],
            otherwise: .answering(ok)
        )
        let engine = try EngineHarness()
        _ = await engine.run(try get(server.port, "/1"))
        let second = await engine.run(try get(server.port, "/2"))
        #expect(second.text == "ok")
        #expect(second.report?.retried == true)
        #expect(second.report?.reusedConnection == false)
        #expect(server.connections.count == 2)
        #expect(server.connections[1].receivedText.hasPrefix("GET /2 "))
    }

    @Test("a POST that meets a closing connection is not sent again: the server may have acted on it", .scenario(15))
    func stalePost() async throws {
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(ok), .receive(.headEnd), .close]],
            otherwise: .answering(ok)
        )
        let engine = try EngineHarness()
        _ = await engine.run(try get(server.port))
        let result = await engine.run(try EngineRequest(method: "POST", origin: origin(server.port)))
        guard case .closedBeforeResponse = result.error else {
            Issue.record("\(String(describing: result.error))")
            return
        }
        #expect(server.connections.count == 1)
        #expect(server.connections[0].receivedText.ranges(of: "POST ").count == 1, "seen once")
    }

    @Test("a POST that its caller calls idempotent, and whose body can be replayed, is sent again", .scenario(16))
    func idempotentPost() async throws {
        func script() -> [RawScript] {
            [[.receive(.headEnd), .send(ok), .receive(.headEnd), .receive(.bytes(3)), .close]]
        }
        var options = EngineRequest.Options()
        options.isIdempotent = true
        for replayable in [true, false] {
            let server = try RawServer.start(script(), otherwise: [.receive(.headEnd), .receive(.bytes(3)), .send(ok)])
            let engine = try EngineHarness()
            _ = await engine.run(try get(server.port))
            let request = try EngineRequest(
                method: "POST",
                origin: origin(server.port),
                body: .stream(length: 3, replayable: replayable),
                options: options
            )
            let result = await engine.run(request) {
                $0.onNeedsBody = { _, offset in offset == 0 ? .bytes(bytes("abc")) : .end(trailers: nil) }
            }
            #expect(result.succeeded == replayable)
            #expect(server.connections.count == (replayable ? 2 : 1))
            if replayable { #expect(server.connections[1].receivedText.hasSuffix("\r\n\r\nabc")) }
        }
    }

    @Test("a request is not retried after one byte of an answer, nor on a fresh connection", .scenario(13, 18))
    func noRetry() async throws {
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(ok), .receive(.headEnd), .send("H"), .close]],
            otherwise: [.receive(.headEnd), .close]
        )
        let engine = try EngineHarness()
        _ = await engine.run(try get(server.port))
        #expect(await engine.run(try get(server.port)).error == .truncatedHead(nil))
        let fresh = await engine.run(try get(server.port))
        #expect(fresh.error == .closedBeforeResponse(nil))
        #expect(fresh.report?.retried == false)
        #expect(server.connections.count == 2)
    }

    @Test("a retry that fails as well is an error")
    func secondFailure() async throws {
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(ok), .receive(.headEnd), .close]],
            otherwise: [.receive(.headEnd), .close]
        )
        let engine = try EngineHarness()
        _ = await engine.run(try get(server.port))
        let result = await engine.run(try get(server.port))
        #expect(result.error == .closedBeforeResponse(nil))
        #expect(result.report?.retried == true)
        #expect(server.connections.count == 2)
    }

    @Test("connections are limited per host, and waiters served in order")
    func limit() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 3
        let engine = try EngineHarness(configuration)
        let request = try EngineRequest(origin: origin(server.port), target: "/bytes/100")
        let all = await withTaskGroup(of: Recorded.self) { group in
            for _ in 0..<200 { group.addTask { await engine.run(request) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(all.allSatisfy { $0.succeeded && $0.body.count == 100 })
        #expect(server.connectionsAccepted <= 3)
        #expect(server.requestCount == 200)
    }

    @Test("the total limit closes an idle connection elsewhere, and otherwise makes hosts wait their turn")
    func totalLimit() async throws {
        let servers = try (0..<3).map { _ in try RawServer.start(otherwise: .answering(ok)) }
        var configuration = EngineConfiguration()
        configuration.connections = 1
        let engine = try EngineHarness(configuration)
        for _ in 0..<2 {
            for server in servers { #expect(await engine.run(try get(server.port)).text == "ok") }
        }
        let all = await withTaskGroup(of: Bool.self) { group in
            for server in servers {
                for _ in 0..<5 { group.addTask { await engine.run(try! get(server.port)).succeeded } }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(all)
        #expect(await engine.statistics.idle <= 1)
    }
}
