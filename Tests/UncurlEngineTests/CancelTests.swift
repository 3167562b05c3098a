import ScriptedPeer
import TestSupport
import Testing
import UncurlReactor
import UncurlTestServer

@testable import UncurlEngine

@Suite("Cancelling", .ownThread)
struct CancelTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("while waiting for a connection: it leaves the queue, and others are served")
    func waiting() async throws {
        let gate = RawGate()
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .wait(gate), .send(ok), .startOver])
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        let engine = try EngineHarness(configuration)
        let first = await engine.begin(try get(server.port))
        let second = await engine.begin(try get(server.port))
        let third = await engine.begin(try get(server.port))
        second.cancel()
        #expect(await second.outcome().error == .cancelled)
        gate.open()
        #expect(await first.outcome().succeeded)
        #expect(await third.outcome().succeeded)
        #expect(server.connections.count == 1)
    }

    @Test("while dialling: the connection is kept for the next")
    func dialling() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        let engine = try EngineHarness()
        let error = await withCheckedContinuation { continuation in
            engine.handle.post { engine in
                let request = try! get(server.port)
                let recorder = Recorder(engine) { continuation.resume(returning: $0.error) }
                recorder.start(request)
                engine.cancel(recorder.id)
                engine.cancel(recorder.id)
            }
        }
        #expect(error == .cancelled)
        #expect(await engine.run(try get(server.port)).succeeded)
        #expect(server.connections.count == 1)
    }

    @Test("before, inside and after the head: one outcome, the connection reset", arguments: [0, 10, 45])
    func running(offset: Int) async throws {
        let response = bytes("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n") + [UInt8](repeating: 65, count: 50)
        let gate = RawGate()
        let server = try RawServer.start(otherwise: .pausing(response, at: offset, until: gate))
        let engine = try EngineHarness()
        let pending = await engine.begin(try get(server.port))
        try server.wait(for: 0, "the request") { $0.receivedText.hasSuffix("\r\n\r\n") }
        pending.cancel()
        pending.cancel()
        let result = await pending.outcome()
        #expect(result.error == .cancelled)
        #expect(result.outcomes == 1)
        try server.waitForEnd(of: 0)
        #expect(await engine.statistics == EngineStatistics())
        gate.open()
    }

    @Test("by the id of an ended exchange: it reaches none that has followed in its place")
    func ended() async throws {
        let gate = RawGate()
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .send(ok), .receive(.headEnd), .wait(gate), .send(ok),
        ])
        let engine = try EngineHarness()
        let first = await engine.begin(try get(server.port))
        #expect(await first.outcome().text == "ok")
        let second = await engine.begin(try get(server.port))
        first.cancel()
        for _ in 0..<10 { _ = await engine.statistics }
        gate.open()
        #expect(await second.outcome().text == "ok")
    }

    @Test("from inside each call of the delegate")
    func insideCalls() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        let engine = try EngineHarness()
        let atHead = await engine.run(try get(server.port)) {
            $0.onHead = { recorder, _ in recorder.engine.cancel(recorder.id) }
        }
        #expect(atHead.error == .cancelled && atHead.body.isEmpty && atHead.outcomes == 1)
        let atBytes = await engine.run(try get(server.port)) {
            $0.onBytes = { recorder, _ in recorder.engine.cancel(recorder.id) }
        }
        #expect(atBytes.error == .cancelled && atBytes.outcomes == 1)
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: 9, replayable: false)
        )
        let atBody = await engine.run(request) {
            $0.onNeedsBody = { recorder, _ in
                recorder.engine.cancel(recorder.id)
                return .bytes([1])
            }
        }
        #expect(atBody.error == .cancelled && atBody.outcomes == 1)
        let atEnd = await engine.run(try get(server.port)) {
            $0.onFinish = { recorder in recorder.engine.cancel(recorder.id) }
        }
        #expect(atEnd.succeeded && atEnd.outcomes == 1)
        #expect(await engine.statistics.busy == 0)
    }

    @Test("inside a bomb of 16 MiB that one read takes whole: nothing more of it is decoded")
    func insideBomb() async throws {
        let bomb = compress([UInt8](repeating: 0, count: 16 << 20), windowBits: 31)
        let head = bytes("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n")
        let server = try RawServer.start(otherwise: .answering(head + bomb))
        let engine = try EngineHarness()
        let decoded = Counter()
        let result = await engine.run(try get(server.port)) {
            $0.onBytes = { recorder, _ in
                nonisolated(unsafe) let exchange = recorder.engine.exchange(recorder.id)
                recorder.engine.cancel(recorder.id)
                // Runs when the loop has left the read. The exchange is empty, unless more was decoded for it.
                recorder.engine.loop.post { decoded.add(Int(exchange?.report.contentDelivered ?? 0)) }
            }
        }
        #expect(result.error == .cancelled && result.outcomes == 1)
        await engine.onLoop { _ in }
        #expect((1...CodingDecoder.bufferSize).contains(result.body.count) && decoded.value == 0)
    }

    @Test("random cancels among many requests: every one ends once, nothing is left", arguments: 0..<3)
    func random(seed: UInt64) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 4
        let engine = try EngineHarness(configuration)
        var random = SplitMix(seed: seed)
        var pending: [Pending] = []
        let paths = ["/bytes/10", "/stream-bytes/5000?chunk_size=50", "/gzip", "/delay/0.01", "/bytes/100000"]
        for _ in 0..<300 {
            pending.append(await engine.begin(try get(server.port, paths.randomElement(using: &random)!)))
            if random.next() % 2 == 0 { pending.randomElement(using: &random)!.cancel() }
        }
        for one in pending {
            let result = await one.outcome()
            #expect(result.outcomes == 1)
            #expect(result.succeeded || result.error == .cancelled)
        }
        let statistics = await engine.statistics
        #expect(statistics.busy == 0 && statistics.waiting == 0 && statistics.idle + statistics.dialling <= 4)
        await engine.shutdown()
        #expect(await engine.onLoop { $0.loop.registrations } == 0)
    }
}
