import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine
import UncurlHTTP1

@Suite("Small chunks", .ownThread, .timeLimit(.minutes(5)))
struct JoinedChunksTests {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private func chunk(_ content: [UInt8]) -> [UInt8] {
        Array("\(String(content.count, radix: 16))\r\n".utf8) + content + [0x0D, 0x0A]
    }

    /// Chunks of these lengths, and their content.
    private func chunks(_ lengths: [Int]) -> (octets: [UInt8], content: [UInt8]) {
        var (octets, content) = ([UInt8](), [UInt8]())
        for (number, length) in lengths.enumerated() {
            let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
            octets += chunk(piece)
            content += piece
        }
        return (octets, content)
    }

    /// Loads the answer, which has wholly come before its content is read, and pauses at each delivery if told so.
    private func load(_ answer: [UInt8], pausing: Bool = false) async throws -> (Recorded, deliveries: Int) {
        let gate = RawGate()
        let server = try RawServer.start([[.receive(.headEnd), .send(answer), .wait(gate)]])
        let engine = try EngineHarness()
        let (handle, hasBegun, deliveries) = (engine.handle, Counter(), Counter())
        let pending = await engine.begin(try get(server.port)) { recorder in
            recorder.onHead = { recorder, _ in
                recorder.engine.pause(recorder.id)
                hasBegun.add()
            }
            recorder.onBytes = { recorder, _ in
                deliveries.add()
                guard pausing, let id = recorder.id else { return }
                recorder.engine.pause(id)
                handle.post { $0.resume(id) }
            }
        }
        await hasBegun.reaches(1)
        pending.resume()
        let recorded = await pending.outcome()
        gate.open()
        return (recorded, deliveries.value)
    }

    @Test("a thousand chunks of a read are delivered in few calls, with every octet in its place")
    func together() async throws {
        let (octets, content) = chunks(Array(repeating: 16, count: 1000))
        let (recorded, deliveries) = try await load(Array(Self.head.utf8) + octets + Array("0\r\n\r\n".utf8))
        #expect(recorded.succeeded && recorded.body == content)
        // The answer may come in several reads.
        #expect(deliveries < 50)
    }

    @Test("small and large chunks come in their order, paused or not", arguments: [false, true])
    func mixed(pausing: Bool) async throws {
        let lengths = [1, 1, 1024, 1025, 3, 5000, 2, 40_000, 1, 1000, 1000] + Array(repeating: 900, count: 40) + [1]
        let (octets, content) = chunks(lengths)
        let answer = Array(Self.head.utf8) + octets + Array("0\r\nX: y\r\n\r\n".utf8)
        let (recorded, _) = try await load(answer, pausing: pausing)
        #expect(recorded.succeeded && recorded.body == content && recorded.outcomes == 1)
        #expect(recorded.trailers?.count == 1)
    }

    @Test("what came before a malformed chunk is delivered, and then the error is told", arguments: [false, true])
    func malformed(pausing: Bool) async throws {
        let (octets, content) = chunks([7, 9, 2])
        let answer = Array(Self.head.utf8) + octets + Array("x\r\n".utf8)
        let (recorded, _) = try await load(answer, pausing: pausing)
        #expect(recorded.body == content && recorded.outcomes == 1)
        guard case .malformedResponse? = recorded.error else {
            Issue.record("\(String(describing: recorded.error))")
            return
        }
    }
}
