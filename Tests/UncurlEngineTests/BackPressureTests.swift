import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine
import UncurlReactor
import UncurlTestServer

@Suite("Back-pressure", .ownThread)
struct BackPressureTests {
    @Test("a paused exchange stops reading: the server's window fills, and every byte arrives after resuming")
    func download() async throws {
        let size = 16 << 20
        let server = try TestServer.start()
        defer { server.stop() }
        let engine = try EngineHarness()
        let received = Counter()
        let pending = await engine.begin(try get(server.port, "/bytes/\(size)")) {
            $0.pauseAtFirstBytes(counting: received)
        }
        await received.reaches(1)
        let atPause = received.value
        for _ in 0..<50 { _ = await engine.statistics }
        #expect(received.value == atPause)
        #expect(!pending.isFinished)
        pending.resume()
        let result = await pending.outcome()
        #expect(result.succeeded && result.body.count == size)
    }

    @Test(
        "pausing at every call still delivers every byte once, in order, whatever the framing and coding",
        arguments: ["/stream-bytes/20000?chunk_size=37&seed=5", "/bytes/300000?seed=9", "/gzip", "/encoding/utf8"]
    )
    func stutter(path: String) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let engine = try EngineHarness()
        let whole = await engine.run(try get(server.port, path))
        let handle = engine.handle
        let stuttered = await engine.run(try get(server.port, path)) {
            $0.onHead = { recorder, _ in
                let id = recorder.id!
                recorder.engine.pause(id)
                handle.post { $0.resume(id) }
            }
            $0.onBytes = { recorder, _ in
                let id = recorder.id!
                recorder.engine.pause(id)
                handle.post { $0.resume(id) }
            }
        }
        #expect(stuttered.succeeded)
        #expect(stuttered.body.count == whole.body.count)
        #expect(path == "/gzip" || stuttered.body == whole.body)
    }

    @Test(
        "content that expands a thousandfold leaves the loop to others meanwhile, and the connection serves the next",
        arguments: [false, true]
    )
    func expanding(pauses: Bool) async throws {
        let size = 64 << 20
        let coded = compress([UInt8](repeating: 0, count: size), windowBits: 31)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n"
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send(bytes(head) + coded), .receive(.headEnd),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            ]
        ])
        let engine = try EngineHarness()
        let handle = engine.handle
        let received = Counter()
        let atMessage = Word<Int>()
        let result = await engine.run(try get(server.port)) {
            $0.onBytes = { recorder, count in
                let id = recorder.id!
                if received.value == 0 { handle.post { _ in atMessage.give(received.value) } }
                received.add(count)
                guard pauses else { return }
                recorder.engine.pause(id)
                handle.post { $0.resume(id) }
            }
        }
        #expect(result.succeeded && result.body.count == size)
        #expect(atMessage.value ?? .max <= 8 << 20)
        #expect(await engine.run(try get(server.port)).text == "ok")
        #expect(server.connections.count == 1)
    }

    @Test("a peer that resets while we are paused neither spins the loop nor is taken for an end")
    func resetWhilePaused() async throws {
        let gate = RawGate()
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"), .wait(gate), .reset,
        ])
        let engine = try EngineHarness()
        let received = Counter()
        let pending = await engine.begin(try get(server.port)) {
            $0.pauseAtFirstBytes(counting: received)
        }
        await received.reaches(5)
        gate.open()
        try server.wait(for: 0, "closed") { $0.isClosed }
        for _ in 0..<20 { _ = await engine.statistics }
        #expect(!pending.isFinished)
        pending.resume()
        guard case .truncatedBody(expected: 100, received: 5, _)? = await pending.outcome().error else {
            Issue.record("a reset while paused must be a truncated body")
            return
        }
    }

    @Test("an upload is asked for as the socket takes it, not before")
    func upload() async throws {
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .stall])
        let engine = try EngineHarness()
        let asked = Counter()
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: nil, replayable: false)
        )
        let part = [UInt8](repeating: 1, count: 1 << 20)
        let pending = await engine.begin(request) {
            $0.onNeedsBody = { _, _ in
                asked.add()
                return asked.value > 1_000 ? .end(trailers: nil) : .bytes(part)
            }
        }
        try server.wait(for: 0, "the head") { $0.receivedText.contains("\r\n\r\n") }
        for _ in 0..<50 { _ = await engine.statistics }
        // Loopback buffers take a few megabytes; a thousand would mean that nobody looked.
        #expect(asked.value < 64)
        pending.cancel()
        #expect(await pending.outcome().error == .cancelled)
    }

    @Test("a large streamed upload and its echo arrive whole at the same time")
    func echo() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let engine = try EngineHarness()
        let request = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            target: "/echo",
            body: .stream(length: nil, replayable: false)
        )
        var random = SplitMix(seed: 1)
        let part = (0..<65_537).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let parts = 64
        let result = await engine.run(request) {
            $0.bodyParts = (0..<parts).map { _ in .bytes(part) }
        }
        #expect(result.succeeded)
        #expect(result.sent == parts * part.count)
        var expected: [UInt8] = []
        for _ in 0..<parts { expected += part }
        #expect(result.body == expected)
    }
}
