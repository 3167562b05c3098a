import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlTestServer

@Suite("Pipelines", .timeLimit(.minutes(5)))
struct PipelineTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private func pipeline(_ count: Int, _ port: UInt16, method: String = "GET") throws -> EngineRequest {
        var options = EngineRequest.Options()
        options.pipelineDepth = count
        return try EngineRequest(method: method, origin: origin(port), options: options)
    }

    @Test("each response counts its own bytes, though several came in one read")
    func counts() async throws {
        let last = bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n")
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .receive(.headEnd), .receive(.headEnd), .send(ok + ok + last),
        ])
        let reports = Mutex<[ExchangeReport]>([])
        let result = await (try EngineHarness()).run(try pipeline(3, server.port)) {
            $0.onFinish = { recorder in reports.withLock { $0.append(recorder.recorded.report!) } }
        }
        #expect(result.succeeded && result.text == "okokok")
        #expect(result.trailers?["X-T"] == "1")
        let seen = reports.withLock { $0 }
        #expect(seen.map(\.bytesReceived) == [ok.count, ok.count, last.count].map(UInt64.init))
        #expect(seen.map(\.contentReceived) == [2, 2, 2])
        #expect(seen.map(\.remaining) == [2, 1, 0])
        #expect(seen.allSatisfy { $0.timings.responseStart != nil })
    }

    @Test("HEAD answers of a pipeline have no content, whatever they declare")
    func heads() async throws {
        let head = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        let server = try RawServer.start(otherwise: .answering(head))
        let result = await (try EngineHarness()).run(try pipeline(5, server.port, method: "HEAD"))
        #expect(result.succeeded && result.outcomes == 5 && result.body.isEmpty)
    }

    @Test(
        "a pipeline that breaks off after an answer is not sent again, even on a connection used before",
        arguments: [true, false]
    )
    func noRetry(leftover: Bool) async throws {
        let server = try RawServer.start(
            [
                [
                    .receive(.headEnd), .send(ok), .receive(.headEnd), .receive(.headEnd), .receive(.headEnd),
                    .send(ok + (leftover ? bytes("HTTP/1.1 2") : [])), .finish,
                ]
            ],
            otherwise: .answering(ok)
        )
        let engine = try EngineHarness()
        #expect(await engine.run(try get(server.port)).succeeded)
        let result = await engine.run(try pipeline(3, server.port, method: "POST"))
        #expect(result.outcomes == 2)
        #expect(result.error == (leftover ? .truncatedHead(nil) : .closedBeforeResponse(nil)))
        #expect(result.report?.remaining == 2)
        #expect(result.report?.retried == false)
        #expect(server.connections.count == 1)
    }

    @Test("a response that closes the connection is told, and the rest are lost")
    func closes() async throws {
        let closing = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(closing), .close])
        let result = await (try EngineHarness()).run(try pipeline(3, server.port))
        #expect(result.outcomes == 2)
        #expect(result.text == "ok")
        #expect(result.error == .closedBeforeResponse(nil))
        #expect(result.report?.remaining == 2)
    }

    @Test("content that the socket takes bit by bit counts as sent when all of it has left")
    func progress() async throws {
        var options = EngineRequest.Options()
        options.pipelineDepth = 16
        let content = [UInt8](repeating: 65, count: 256 << 10)
        let server = try TestServer.start()
        defer { server.stop() }
        let request = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            target: "/status/200",
            body: .bytes(content),
            options: options
        )
        let result = await (try EngineHarness()).run(request)
        #expect(result.succeeded && result.outcomes == 16)
        #expect(result.sent == 16 * content.count)
    }

    @Test("a pipeline that would not fit into memory is refused, not attempted", arguments: [Int.max, 1 << 40])
    func tooLarge(count: Int) throws {
        #expect(throws: EngineError.invalidRequest(.pipelineTooLarge(count))) { try pipeline(count, 1) }
    }

    @Test("a pause between two responses holds the next ones back")
    func pause() async throws {
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .receive(.headEnd), .send(ok + ok)])
        let engine = try EngineHarness()
        let finished = Counter()
        let pending = await engine.begin(try pipeline(2, server.port)) {
            $0.onFinish = { recorder in
                if finished.value == 0 { recorder.engine.pause(recorder.id) }
                finished.add()
            }
        }
        await finished.reaches(1)
        for _ in 0..<20 { _ = await engine.statistics }
        #expect(finished.value == 1)
        pending.resume()
        #expect(await pending.outcome().succeeded)
    }
}
