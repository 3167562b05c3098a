import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlTestServer

@testable import UncurlEngine

@Suite("Gathering what comes fast", .timeLimit(.minutes(5)))
struct GatheringTests {
    private static let size = 4 << 20
    private static let content = (0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 9) }
    private static let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8)
    private static let short = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8)

    /// Treats every connection from its first content on as one whose reads have been full, and tells which paces it has seen.
    private final class Watch: Sendable {
        let received = Counter()
        private let seen = Mutex<Set<String>>([])

        func follow(_ recorder: Recorder) {
            recorder.onBytes = { [self] recorder, _ in
                received.add(recorder.recorded.body.count - received.value)
                for connection in recorder.engine.connections.all {
                    guard let reading = connection.reading else { continue }
                    if reading.pace == .usual { reading.pace = .bulk }
                    seen.withLock { _ = $0.insert(name(reading.pace)) }
                }
            }
        }

        func saw(_ pace: String) -> Bool { seen.withLock { $0.contains(pace) } }

        private func name(_ pace: ReadingPace) -> String {
            switch pace {
            case .usual: "usual"
            case .bulk: "bulk"
            case .gathering: "gathering"
            case .fitful: "fitful"
            }
        }
    }

    private func answers(_ actions: [RawStep]) -> RawScript {
        RawScript([.receive(.headEnd), .send(Self.head)] + actions)
    }

    @Test(
        "all that came before a pause is handed on during the pause, however little it is",
        arguments: [1, 999, 131_073]
    )
    func pause(_ rest: Int) async throws {
        let gate = RawGate()
        let cut = Self.size / 2 + rest
        let raw = try RawServer.start([
            answers([.send(Array(Self.content[..<cut])), .wait(gate), .send(Array(Self.content[cut...])), .finish])
        ])
        let (engine, watch) = (try EngineHarness(), Watch())
        let pending = await engine.begin(try get(raw.port, "/")) { watch.follow($0) }
        await watch.received.reaches(cut)
        gate.open()
        let result = await pending.outcome()
        #expect(result.succeeded && result.body == Self.content)
        #expect(watch.saw("gathering"))
    }

    @Test("the next response on the connection, a short one, is heard at once")
    func afterwards() async throws {
        let raw = try RawServer.start([
            answers([.send(Self.content), .receive(.headEnd), .send(Self.short), .stall])
        ])
        let (engine, watch) = (try EngineHarness(), Watch())
        let first = await engine.run(try get(raw.port, "/")) { watch.follow($0) }
        #expect(first.body == Self.content && watch.saw("gathering"))
        let second = await engine.run(try get(raw.port, "/"))
        #expect(second.text == "hello")
        #expect(second.report?.reusedConnection == true)
    }

    @Test("an end in the middle is heard at once, with every byte before it", arguments: [RawStep.finish, .reset])
    func cut(_ end: RawStep) async throws {
        let gate = RawGate()
        let cut = Self.size / 2
        let raw = try RawServer.start([answers([.send(Array(Self.content[..<cut])), .wait(gate), end])])
        let (engine, watch) = (try EngineHarness(), Watch())
        let pending = await engine.begin(try get(raw.port, "/")) { watch.follow($0) }
        await watch.received.reaches(cut)
        gate.open()
        let result = await pending.outcome()
        guard case .truncatedBody(_, let received, _)? = result.error else {
            Issue.record("\(result)")
            return
        }
        #expect(received == cut && result.body.count == cut)
    }

    @Test("a consumer that pauses gets the rest when it goes on")
    func pausedByUs() async throws {
        let raw = try RawServer.start([answers([.send(Self.content), .finish])])
        let (engine, watch) = (try EngineHarness(), Watch())
        let handle = engine.handle
        let result = await engine.run(try get(raw.port, "/")) {
            watch.follow($0)
            let follow = $0.onBytes
            $0.onBytes = { recorder, bytes in
                follow?(recorder, bytes)
                let id = recorder.id!
                recorder.engine.pause(id)
                handle.post { $0.resume(id) }
            }
        }
        #expect(result.succeeded && result.body == Self.content)
        #expect(watch.saw("gathering"))
    }

    @Test("a response of unknown length is never gathered")
    func chunked() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (engine, watch) = (try EngineHarness(), Watch())
        let result = await engine.run(try get(server.port, "/stream-bytes/2000000?chunk_size=100000")) {
            watch.follow($0)
        }
        #expect(result.body.count == 2_000_000)
        #expect(watch.saw("bulk") && !watch.saw("gathering"))
    }

    #if DEBUG
    @Test("a socket that cannot be set back to single bytes carries no other exchange")
    func cannotBeSetBack() async throws {
        let raw = try RawServer.start([
            answers([.send(Self.content), .stall]), RawScript([.receive(.headEnd), .send(Self.short), .finish]),
        ])
        let (engine, watch) = (try EngineHarness(), Watch())
        let first = await engine.run(try get(raw.port, "/")) {
            watch.follow($0)
            let follow = $0.onBytes
            $0.onBytes = { recorder, bytes in
                follow?(recorder, bytes)
                // From the moment of gathering on no option can be set.
                guard watch.saw("gathering"), recorder.engine.loop.faults == nil else { return }
                recorder.engine.loop.faults = FaultPlan(
                    failures: [FaultPlan.Failure(call: 1, of: .setsockopt, with: .noBufferSpace, lasts: true)]
                )
            }
        }
        _ = await engine.onLoop { $0.loop.faults = nil }
        #expect(watch.saw("gathering"))
        #expect(first.body.count <= Self.size)
        let second = await engine.run(try get(raw.port, "/"))
        #expect(second.text == "hello" && second.report?.reusedConnection == false)
    }
    #endif
}
