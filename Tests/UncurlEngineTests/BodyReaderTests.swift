import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor

@testable import UncurlEngine

@Suite("Bodies of several parts", .ownThread, .timeLimit(.minutes(5)))
struct BodyReaderTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private static let large = (0..<2_500_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }

    /// Gives these, one a read.
    private final class Pieces: BlockingReader {
        private let pieces: Mutex<[[UInt8]]>
        init(_ pieces: [[UInt8]]) { self.pieces = Mutex(pieces) }
        func read(atMost count: Int) -> [UInt8] { pieces.withLock { $0.isEmpty ? [] : $0.removeFirst() } }
    }

    private func threaded(_ pieces: [String], length: UInt64? = nil, replayable: Bool = true) -> Content {
        .threaded(ThreadedBody(length: length, replayable: replayable) { Pieces(pieces.map { bytes($0) }) })
    }

    private func put(_ port: UInt16, _ parts: [Content]) throws -> EngineRequest {
        try EngineRequest(
            method: "PUT",
            origin: origin(port),
            body: .parts(parts)
        )
    }

    private func content(_ record: RawRecord) -> [UInt8] {
        let received = record.received
        let end = received.indices.first { received[$0...].starts(with: [13, 10, 13, 10]) } ?? 0
        return Array(received[(end + 4)...])
    }

    @Test("want 3: memory, files and threads arrive as one under their exact length")
    func known() async throws {
        let file = TemporaryFile(bytes("file"))
        let parts = [
            .bytes(bytes("<")), threaded(["a", "bc"], length: 3), .file(try FileBody(path: file.path)),
            threaded([], length: 0), .bytes(bytes(">")),
        ]
        #expect(Content.parts(parts).length == 9)
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .receive(.bytes(9)), .send(ok)])
        let engine = try EngineHarness()
        let result = await engine.run(try put(server.port, parts))
        #expect(result.text == "ok" && result.sent == 9)
        #expect(content(server.connections[0]) == bytes("<abcfile>"))
        #expect(server.connections[0].receivedText.contains("\r\nContent-Length: 9\r\n"))
        #expect(await engine.statistics.idle == 1)
    }

    @Test("want 3: where one knows no length the whole is chunked, a file in chunks of a slice")
    func chunked() async throws {
        let (file, empty) = (TemporaryFile(Self.large), TemporaryFile())
        let parts = [
            .bytes(bytes("<")), .file(try FileBody(path: file.path)), threaded(["a", "bc"]), .bytes([]),
            .file(try FileBody(path: empty.path)), .file(try FileBody(path: file.path, range: 0..<3)), threaded([]),
        ]
        let (first, second) = (FileBody.slice, Self.large.count - 2 * FileBody.slice)
        var expected = bytes("1\r\n<\r\n")
        for (start, count) in [(0, first), (first, first), (2 * first, second)] {
            expected += bytes(String(count, radix: 16) + "\r\n") + Self.large[start..<(start + count)] + [13, 10]
        }
        expected += bytes("1\r\na\r\n2\r\nbc\r\n3\r\n") + Self.large[..<3] + bytes("\r\n0\r\n\r\n")
        var plans: [@Sendable () -> FaultPlan?] = [{ nil }]
        plans.append {
            let plan = FaultPlan(seed: 11)
            (plan.blockPercent, plan.interruptPercent, plan.maximumBytes) = (30, 20, 30_011)
            return plan
        }
        plans.append { FaultPlan(failures: [.init(call: 1, of: .sendFile, with: .invalidArgument, lasts: true)]) }
        for plan in plans {
            let server = try RawServer.start(
                otherwise: [.receive(.headEnd), .receive(.bytes(expected.count)), .send(ok)]
            )
            let engine = try EngineHarness()
            _ = await engine.onLoop { $0.loop.faults = plan() }
            let result = await engine.run(try put(server.port, parts))
            #expect(result.text == "ok" && result.sent == Self.large.count + 7)
            #expect(content(server.connections[0]).elementsEqual(expected))
            #expect(server.connections[0].receivedText.prefix(500).contains("\r\nTransfer-Encoding: chunked\r\n"))
        }
    }

    @Test("a part that gives other than it declared fails before the next begins, and no end is sent")
    func mismatches() async throws {
        for (pieces, declared, given) in [(["ab"], 3, 2), (["ab", "cd"], 3, 4), ([], 1, 0)]
            as [([String], UInt64, UInt64)]
        {
            for chunked in [false, true] {
                let server = try RawServer.start(otherwise: .silent)
                let engine = try EngineHarness()
                var parts = [threaded(pieces, length: declared), .bytes(bytes("behind"))]
                if chunked { parts.append(threaded(["x"])) }
                let result = await engine.run(try put(server.port, parts))
                #expect(result.error == .bodyLengthMismatch(declared: declared, given: given))
                let record = try server.waitForEnd(of: 0)
                #expect(record.sawReset && !record.receivedText.contains("behind"))
                #expect(!record.receivedText.hasSuffix("0\r\n\r\n"))
                #expect(await engine.statistics == EngineStatistics())
            }
        }
    }

    @Test("a file that becomes shorter within its chunk cuts the message")
    func shrinking() async throws {
        let file = TemporaryFile(Self.large)
        let server = try RawServer.start(otherwise: .silent)
        let request = try put(server.port, [.file(try FileBody(path: file.path)), threaded(["x"])])
        let engine = try EngineHarness()
        let result = await engine.run(request) { $0.onSent = { _, _ in file.truncate(to: 10) } }
        guard case .bodyLengthMismatch? = result.error else {
            Issue.record("\(String(describing: result.error))")
            return
        }
        #expect(try server.waitForEnd(of: 0).sawReset)
    }

    @Test("lengths that fit no 63 bits make no request, known or not, nor do parts that are asked for")
    func overflow() {
        let huge = threaded([], length: UInt64(Int64.max))
        #expect(Content.parts([huge]).length == UInt64(Int64.max))
        let asked = Content.stream(length: 1, replayable: false)
        let bodies = [
            [huge, .bytes([1])], [huge, .bytes([1]), threaded([])], [threaded([], length: .max)],
            [huge, .parts([.parts([.bytes([1])])])], [asked], [.parts([.bytes([1]), asked])],
        ]
        for parts in bodies {
            #expect(throws: EngineError.invalidRequest(.partsThatCannotBeJoined)) { try put(1, parts) }
        }
    }

    @Test("parts can be sent again if all of them can")
    func replayable() throws {
        let file = TemporaryFile(bytes("x"))
        let plain: [Content] = [.bytes([1]), .file(try FileBody(path: file.path)), threaded([])]
        #expect(Content.parts(plain).isReplayable)
        #expect(!Content.parts(plain + [threaded([], replayable: false)]).isReplayable)
        #expect(Content.parts([]).isReplayable)
    }

    @Test("a source that fails in the middle ends the exchange with its error, and its reader is closed")
    func failing() async throws {
        struct Broken: Error {}
        final class Failing: BlockingReader {
            let closes = Counter()
            func read(atMost count: Int) throws -> [UInt8] { throw Broken() }
            func close() { closes.add() }
        }
        let reader = Failing()
        let server = try RawServer.start(otherwise: .silent)
        let body = Content.threaded(ThreadedBody(length: nil) { reader })
        let engine = try EngineHarness()
        let result = await engine.run(try put(server.port, [.bytes(bytes("a")), body]))
        #expect(result.error == .bodySourceFailed(BodySourceError(Broken())))
        await reader.closes.reaches(1)
        #expect(try server.waitForEnd(of: 0).sawReset)
    }
}
