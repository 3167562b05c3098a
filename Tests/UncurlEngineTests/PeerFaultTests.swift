import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor

@testable import UncurlEngine

@Suite("Peers at fault", .ownThread, .timeLimit(.minutes(5)))
struct PeerFaultTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("a connection reset before the kernel took a byte: any method is sent again", .scenario(17))
    func resetBeforeSend() async throws {
        let gate = RawGate()
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(ok), .wait(gate), .reset]],
            otherwise: [.receive(.headEnd), .receive(.bytes(4)), .send(ok)]
        )
        let engine = try EngineHarness()
        #expect(await engine.run(try get(server.port)).succeeded)
        let request = try EngineRequest(method: "POST", origin: origin(server.port), body: .bytes(bytes("once")))
        let result = await withCheckedContinuation { continuation in
            engine.handle.post { engine in
                // The reset happens while the loop stands here: it cannot have heard of it.
                gate.open()
                #expect(engine.waitForNews())
                engine.lookInVain()
                Recorder(engine) { continuation.resume(returning: $0) }.start(request)
            }
        }
        #expect(result.text == "ok")
        #expect(result.report?.retried == true)
        #expect(result.sent == 4)
        #expect(server.connections.count == 2)
    }

    @Test("a retry that is cancelled while it dials leaves its connection to the next")
    func cancelRetry() async throws {
        let gate = RawGate()
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(ok), .wait(gate), .reset]],
            otherwise: .answering(ok)
        )
        let engine = try EngineHarness()
        let request = try get(server.port)
        #expect(await engine.run(request).succeeded)
        let statistics = Mutex(EngineStatistics())
        let result = await withCheckedContinuation { continuation in
            engine.handle.post { engine in
                gate.open()
                #expect(engine.waitForNews())
                engine.lookInVain()
                let recorder = Recorder(engine) { continuation.resume(returning: $0) }
                recorder.start(request)
                // The end of the old connection is heard in the next turn, before this letter.
                let id = recorder.id!
                engine.handle.post { engine in
                    statistics.withLock { $0 = engine.statistics }
                    engine.cancel(id)
                }
            }
        }
        #expect(result.error == .cancelled && result.outcomes == 1)
        #expect(statistics.withLock { $0 }.dialling == 1)
        #expect(await engine.run(request).text == "ok")
        #expect(server.connections.count == 2)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test("an answer that ends the connection during an upload is delivered", .scenario(28), arguments: [true, false])
    func earlyClose(orderly: Bool) async throws {
        let answer = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(answer), orderly ? .finish : .close])
        let engine = try EngineHarness()
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: nil, replayable: false)
        )
        let result = await engine.run(request) {
            $0.onNeedsBody = { _, _ in .bytes([UInt8](repeating: 1, count: 65_536)) }
        }
        // An RST may overtake the answer in the kernel; then there is none, and that is told as it is.
        if orderly || result.succeeded {
            #expect(result.status == 413 && result.text == "big" && result.error == nil)
        } else {
            let sent = result.report?.contentSent ?? 0
            #expect(
                result.error == .uploadAborted(sent: sent, .connectionReset)
                    || result.error == .uploadAborted(sent: sent, .brokenPipe)
            )
        }
        #expect(result.outcomes == 1)
        #expect(await engine.statistics == EngineStatistics())
    }

    private let untilClose = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npart"

    private func endlessUpload(to server: RawServer) throws -> EngineRequest {
        try EngineRequest(method: "PUT", origin: origin(server.port), body: .stream(length: nil, replayable: false))
    }

    @Test("content until close that an RST cuts is cut off, even if the sending meets the RST first", .scenario(22))
    func resetMetBySending() async throws {
        for _ in 0..<10 {
            let gate = RawGate()
            let server = try RawServer.start(otherwise: [
                .receive(.headEnd), .send(untilClose), .stallUntil(gate), .close,
            ])
            let engine = try EngineHarness()
            let result = await engine.run(try endlessUpload(to: server)) {
                // The content follows the answer. The server reads nothing of it, so its end is an RST.
                $0.onNeedsBody = { recorder, _ in
                    recorder.recorded.body.isEmpty ? .later : .bytes([UInt8](repeating: 1, count: 65_536))
                }
                $0.onBytes = { recorder, _ in recorder.engine.bodyReady(recorder.id) }
                $0.onSent = { _, _ in gate.open() }
            }
            #expect(result.error == .truncatedBody(expected: nil, received: 4, .connectionReset))
            #expect(result.text == "part" && result.outcomes == 1)
        }
    }

    @Test("the end behind a failed send is an RST's after ECONNRESET, and a FIN's after EPIPE", .scenario(21, 22))
    func sendFailures() async throws {
        for (errno, error) in [
            (Errno.connectionReset, EngineError.truncatedBody(expected: nil, received: 4, .connectionReset)),
            (.brokenPipe, nil),
        ] {
            let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(untilClose)])
            let engine = try EngineHarness()
            let result = await engine.run(try endlessUpload(to: server)) {
                $0.onNeedsBody = { _, _ in .bytes([UInt8](repeating: 1, count: 65_536)) }
                $0.onBytes = { recorder, _ in
                    recorder.engine.loop.faults = FaultPlan(failures: [.init(call: 1, of: .send, with: errno)])
                }
            }
            #expect(result.text == "part" && result.error == error)
        }
    }

    @Test("heads that are not final are taken up to a number, and do not hold off the total limit", .scenario(30))
    func informational() async throws {
        let hint = bytes("HTTP/1.1 100 Continue\r\n\r\n")
        let many = try RawServer.start(otherwise: [.receive(.headEnd), .send((0..<1_000).flatMap { _ in hint })])
        let engine = try EngineHarness()
        guard case .malformedResponse(let error)? = await engine.run(try get(many.port)).error else {
            Issue.record("a thousand interim responses were taken")
            return
        }
        #expect(error.kind == .limitExceeded(.informationalCount))
        let few = try RawServer.start(otherwise: [.receive(.headEnd), .send(hint)])
        let clock = ManualClock()
        var configuration = EngineConfiguration()
        configuration.timeouts = Timeouts(idle: nil, total: .seconds(5))
        let timed = try EngineHarness(configuration, clock: clock)
        let seen = Counter()
        let pending = await timed.begin(try get(few.port)) { $0.onHead = { _, _ in seen.add() } }
        await seen.reaches(1)
        clock.advance(by: .seconds(6), waking: timed.loop)
        #expect(await pending.outcome().error == .timedOut(.total))
    }

    @Test("a FIN behind what a paused consumer holds back is an end only where the framing says so")
    func finWhilePaused() async throws {
        let framings = ["Connection: close\r\n\r\nhello": true, "Content-Length: 9\r\n\r\nhello": false]
        for (rest, isWhole) in framings {
            let server = try RawServer.start(otherwise: [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\(rest)"), .close,
            ])
            let engine = try EngineHarness()
            let head = Counter()
            let pending = await engine.begin(try get(server.port)) {
                $0.onHead = { recorder, _ in
                    recorder.engine.pause(recorder.id)
                    head.add()
                }
            }
            await head.reaches(1)
            try server.wait(for: 0, "the end") { $0.isClosed }
            for _ in 0..<10 { _ = await engine.statistics }
            #expect(!pending.isFinished)
            pending.resume()
            let result = await pending.outcome()
            #expect(result.text == "hello" && result.succeeded == isWhole)
            #expect(await engine.statistics == EngineStatistics())
        }
    }

    @Test("paused while it waits for a connection, an exchange hears nothing before it is resumed")
    func pausedInQueue() async throws {
        let gate = RawGate()
        let server = try RawServer.start(
            [[.receive(.headEnd), .wait(gate), .send(ok), .receive(.headEnd), .send(ok)]],
            otherwise: .silent
        )
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        let engine = try EngineHarness(configuration)
        let first = await engine.begin(try get(server.port))
        let second = await engine.begin(try get(server.port))
        second.pause()
        gate.open()
        #expect(await first.outcome().succeeded)
        try server.wait(for: 0, "the second answer") { $0.stepsDone == 5 }
        for _ in 0..<10 { _ = await engine.statistics }
        #expect(!second.isFinished)
        second.resume()
        #expect(await second.outcome().text == "ok")
        #expect(await engine.statistics.idle == 1)
    }
}
