import Glibc
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor

@testable import UncurlEngine

/// A reader under a test's control.
private final class Source: BlockingReader {
    struct Broken: Error {}

    enum Piece { case bytes([UInt8]), wait(Gate), fail }

    private let pieces: Mutex<[Piece]>
    let reads = Counter()
    let closes = Counter()
    private let interrupted = Gate()
    let interrupts = Counter()

    init(_ pieces: [Piece]) { self.pieces = Mutex(pieces) }

    func read(atMost count: Int) throws -> [UInt8] {
        reads.add()
        while true {
            guard let piece = pieces.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return [] }
            switch piece {
            case .bytes(let bytes): return bytes
            case .wait(let gate): gate.wait()
            case .fail: throw Broken()
            }
        }
    }

    func close() { closes.add() }

    func interrupt() {
        interrupts.add()
        interrupted.open()
    }

    /// For a source that waits for ever unless it is interrupted.
    static func stuck() -> Source {
        let source = Source([])
        source.pieces.withLock { $0 = [.bytes([1, 2, 3]), .wait(source.interrupted)] }
        return source
    }
}

@Suite("Bodies read on a thread", .ownThread, .timeLimit(.minutes(5)))
struct ThreadedBodyTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private func put(
        _ port: UInt16,
        _ source: Source,
        length: UInt64? = nil,
        replayable: Bool = false
    ) throws -> EngineRequest {
        let body = ThreadedBody(length: length, replayable: replayable) { source }
        return try EngineRequest(method: "PUT", origin: origin(port), body: .threaded(body))
    }

    /// Waits until a server that stalls takes nothing more, and the reader's pool of one thread has nothing to do. How far ahead the
    /// reader is then is not known: where its thread's share has ended, it rests until a piece is asked for.
    ///
    /// - Parameter sent: bytes of content that have left.
    private func waitForRest(
        _ engine: EngineHarness,
        _ pending: Pending,
        _ source: Source,
        _ pool: BlockingPool,
        sent: Counter
    ) async throws {
        while !pending.isFinished {
            let (reads, left) = (source.reads.value, sent.value)
            let idle = Word<Bool>()
            try pool.run { idle.give(true) }
            _ = await idle.wait("the reader's thread")
            let isFull = await engine.onLoop { $0.connections.all.contains { $0.link.awaitsRoom } }
            if isFull, reads == source.reads.value, left == sent.value { return }
        }
        Issue.record("the sockets took everything")
    }

    private static let size = 65_536

    /// Pieces of ``size`` bytes, twice as many as a sender's socket keeps; the server's keeps 64 KiB of them.
    private static func moreThanSocketsTake() throws -> Int {
        let limits = try OpenFile(path: "/proc/sys/net/ipv4/tcp_wmem").read(at: 0, atMost: 100)
        let most = String(decoding: limits, as: UTF8.self).split { $0.isWhitespace }.last.flatMap { Int($0) }
        return 2 * (try #require(most)) / size + 16
    }

    private static func count(_ sent: Counter, of recorder: Recorder) {
        recorder.onSent = { recorder, _ in sent.add(recorder.recorded.sent - sent.value) }
    }

    @Test("what comes goes out at once, in chunks, however long the next piece takes")
    func chunks() async throws {
        let gate = Gate()
        let tail = "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .receive(.bytes(tail.utf8.count)), .send(ok)])
        let source = Source([.bytes(bytes("hello")), .wait(gate), .bytes(bytes("!"))])
        let engine = try EngineHarness()
        let pending = await engine.begin(try put(server.port, source))
        try server.wait(for: 0, "the first piece") { $0.receivedText.hasSuffix("\r\n\r\n5\r\nhello\r\n") }
        gate.open()
        let result = await pending.outcome()
        #expect(result.text == "ok" && result.sent == 6)
        #expect(server.connections[0].receivedText.hasSuffix("Transfer-Encoding: chunked\r\n\r\n" + tail))
        await source.closes.reaches(1)
        #expect(source.interrupts.value == 0)
        #expect(await engine.statistics.idle == 1)
    }

    @Test("a length that was given goes into the head, and must come true")
    func lengths() async throws {
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .receive(.bytes(3)), .send(ok)])
        let engine = try EngineHarness()
        let whole = Source([.bytes([1]), .bytes([2, 3])])
        #expect(await engine.run(try put(server.port, whole, length: 3)).sent == 3)
        #expect(server.connections[0].receivedText.contains("Content-Length: 3\r\n"))
        let silent = try RawServer.start(otherwise: .silent)
        let (short, long) = (Source([.bytes([1])]), Source([.bytes([1, 2, 3, 4])]))
        let few = await engine.run(try put(silent.port, short, length: 3))
        #expect(few.error == .bodyLengthMismatch(declared: 3, given: 1))
        let many = await engine.run(try put(silent.port, long, length: 3))
        #expect(many.error == .bodyLengthMismatch(declared: 3, given: 4))
        for source in [whole, short, long] { await source.closes.reaches(1) }
        for index in 0..<2 { #expect(try silent.waitForEnd(of: index).sawReset) }
    }

    @Test("what the reader or its opening throws is carried to the outcome")
    func errors() async throws {
        let server = try RawServer.start(otherwise: .silent)
        let engine = try EngineHarness()
        let source = Source([.bytes([1]), .fail])
        let result = await engine.run(try put(server.port, source))
        #expect(result.error == .bodySourceFailed(BodySourceError(Source.Broken())))
        await source.closes.reaches(1)
        let body = ThreadedBody(length: nil) { throw Source.Broken() }
        let unopened = await engine.run(
            try EngineRequest(method: "PUT", origin: origin(server.port), body: .threaded(body))
        )
        guard case .bodySourceFailed(let error)? = unopened.error else {
            Issue.record("a body that did not open was sent")
            return
        }
        #expect(error.underlying is Source.Broken)
        let pool = BlockingPool(name: "closed")
        pool.shutdown()
        let refused = ThreadedBody(length: nil, pool: pool) { source }
        let unread = await engine.run(
            try EngineRequest(method: "PUT", origin: origin(server.port), body: .threaded(refused))
        )
        #expect(unread.error == .bodySourceFailed(BodySourceError(BlockingPool.Refusal.shutDown)))
        #expect(await engine.statistics == EngineStatistics())
    }

    @Test("a server that takes nothing holds the reader: it is a few pieces ahead and no more")
    func backPressure() async throws {
        let gate = RawGate()
        let (size, count) = (Self.size, try Self.moreThanSocketsTake())
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .stallUntil(gate), .receive(.bytes(size * count)), .send(ok),
        ])
        let source = Source((0..<count).map { .bytes([UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: size)) })
        let engine = try EngineHarness()
        let pool = BlockingPool(name: "reader", threads: 1)
        let body = ThreadedBody(length: UInt64(size * count), pool: pool) { source }
        let sent = Counter()
        let request = try EngineRequest(method: "PUT", origin: origin(server.port), body: .threaded(body))
        let pending = await engine.begin(request) { Self.count(sent, of: $0) }
        // Until the sockets are full nobody knows how many; then four pieces wait at most, and one is half sent.
        try await waitForRest(engine, pending, source, pool, sent: sent)
        #expect(source.reads.value * size <= sent.value + 6 * size)
        gate.open()
        let result = await pending.outcome()
        #expect(result.text == "ok" && result.sent == size * count)
        var content: [UInt8] = []
        for index in 0..<count { content += [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: size) }
        let received = Array(server.connections[0].received.suffix(content.count))
        // Octet by octet it would be seconds of a debug build.
        #expect(received.count == content.count && memcmp(received, content, content.count) == 0)
        await source.closes.reaches(1)
    }

    @Test("a cancelled upload interrupts the reader and closes it", arguments: [true, false])
    func cancel(whileReading: Bool) async throws {
        let server = try RawServer.start(otherwise: whileReading ? .silent : [.receive(.headEnd), .stall])
        let engine = try EngineHarness()
        let source =
            whileReading
            ? Source.stuck() : Source((0..<1_000).map { _ in .bytes([UInt8](repeating: 1, count: Self.size)) })
        let pool = BlockingPool(name: "reader", threads: 1)
        let sent = Counter()
        let body = ThreadedBody(length: nil, pool: pool) { source }
        let request = try EngineRequest(method: "PUT", origin: origin(server.port), body: .threaded(body))
        let pending = await engine.begin(request) { Self.count(sent, of: $0) }
        if whileReading {
            await source.reads.reaches(2)
        } else {
            try await waitForRest(engine, pending, source, pool, sent: sent)
        }
        pending.cancel()
        #expect(await pending.outcome().error == .cancelled)
        await source.closes.reaches(1)
        #expect(source.interrupts.value == (whileReading ? 1 : 0))
        #expect(await engine.statistics == EngineStatistics())
    }

    @Test("a refusal meanwhile is delivered, and ends the reader too")
    func refused() async throws {
        let server = try RawServer.start(otherwise: [
            // A source that was not opened yet would never be.
            .receive(.headEnd), .receive(.bytes(3)),
            .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig"),
        ])
        let source = Source.stuck()
        let result = await (try EngineHarness()).run(try put(server.port, source))
        #expect(result.status == 413 && result.text == "big")
        await source.closes.reaches(1)
    }

    @Test("a replayable source is opened anew for the second sending, a one-shot one is not sent twice")
    func retried() async throws {
        for replayable in [true, false] {
            let server = try RawServer.start(
                [[.receive(.headEnd), .send(ok), .receive(.headEnd), .receive(.bytes(3)), .reset]],
                otherwise: [.receive(.headEnd), .receive(.bytes(3)), .send(ok)]
            )
            let engine = try EngineHarness()
            #expect(await engine.run(try get(server.port)).succeeded)
            let opened = Counter()
            let body = ThreadedBody(length: 3, replayable: replayable) {
                opened.add()
                return Source([.bytes([1, 2, 3])])
            }
            let result = await engine.run(
                try EngineRequest(method: "PUT", origin: origin(server.port), body: .threaded(body))
            )
            #expect(result.succeeded == replayable && result.report?.retried == replayable)
            #expect(opened.value == (replayable ? 2 : 1))
        }
    }
}
