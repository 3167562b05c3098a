import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlTestServer

@testable import UncurlEngine

@Suite("Calls from within calls", .ownThread, .timeLimit(.minutes(5)))
struct ReentrancyTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("a source that says it is ready while being asked is asked for each part once, in order")
    func readyWhileAsked() async throws {
        let end = bytes("\r\n0\r\n\r\n")
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .receive(.bytes(3 * 6 - 2 + end.count)), .send(ok),
        ])
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: nil, replayable: false)
        )
        let result = await (try EngineHarness()).run(request) {
            var isFirst = true
            $0.onNeedsBody = { recorder, offset in
                if isFirst {
                    isFirst = false
                    recorder.engine.bodyReady(recorder.id)
                }
                return offset < 3 ? .bytes([65 + UInt8(offset)]) : .end(trailers: nil)
            }
        }
        #expect(result.succeeded && result.sent == 3)
        #expect(server.connections[0].receivedText.hasSuffix("\r\n\r\n1\r\nA\r\n1\r\nB\r\n1\r\nC\r\n0\r\n\r\n"))
    }

    @Test("an exchange started while another is being sent does not let an outcome overtake the start")
    func startWithinStart() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        let engine = try EngineHarness()
        #expect(await engine.run(try get(server.port)).succeeded)
        let nested = try get(server.port)
        let request = try EngineRequest(method: "POST", origin: origin(server.port), body: .bytes([1]))
        let hadReturned = Mutex<Bool?>(nil)
        let result = await engine.run(request) {
            $0.onSent = { recorder, id in
                Recorder(recorder.engine) { _ in }.start(nested)
                recorder.engine.cancel(id)
            }
            $0.onFinish = { recorder in hadReturned.withLock { $0 = recorder.id != nil } }
        }
        #expect(result.error == .cancelled && result.outcomes == 1)
        #expect(hadReturned.withLock { $0 } == true)
    }

    @Test("in an outcome the connection that carried it counts as free, and before it as taken")
    func freeInOutcome() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let free = Mutex<[Bool]>([])
        let engine = try EngineHarness()
        let request = try EngineRequest(origin: origin(server.port), target: "/bytes/1")
        let result = await engine.run(request) {
            $0.onHead = { recorder, _ in free.withLock { $0.append(recorder.engine.hasFreeConnection) } }
            $0.onFinish = { recorder in free.withLock { $0.append(recorder.engine.hasFreeConnection) } }
        }
        #expect(result.succeeded)
        let afterwards = await engine.onLoop { $0.hasFreeConnection }
        #expect(free.withLock { $0 } == [false, true] && afterwards)
    }

    @Test("a source of small parts does not hold the loop")
    func fairness() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let request = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            target: "/post",
            body: .stream(length: 300, replayable: false)
        )
        let askedBefore = Mutex<UInt64?>(nil)
        let asked = Mutex<UInt64>(0)
        let engine = try EngineHarness()
        let result = await engine.run(request) {
            $0.onNeedsBody = { recorder, offset in
                asked.withLock { $0 = offset }
                if offset == 0 {
                    recorder.engine.loop.post { askedBefore.withLock { $0 = asked.withLock { $0 } } }
                }
                return offset < 300 ? .bytes([65]) : .end(trailers: nil)
            }
        }
        #expect(result.succeeded)
        #expect(try #require(askedBefore.withLock { $0 }) < 100)
    }

    @Test("an outcome comes before the word that nothing is left, wherever the shutdown was called")
    func shutdownWithinSent() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        let engine = try EngineHarness(configuration)
        let order = Mutex<[String]>([])
        let first = try get(server.port)
        let second = try EngineRequest(method: "POST", origin: origin(server.port), body: .bytes([1]))
        await withCheckedContinuation { continuation in
            engine.handle.post { engine in
                Recorder(engine) { _ in order.withLock { $0.append("first") } }.start(first)
                let waiter = Recorder(engine) { _ in order.withLock { $0.append("second") } }
                waiter.onSent = { _, _ in
                    engine.shutdown {
                        order.withLock { $0.append("end") }
                        continuation.resume()
                    }
                }
                waiter.start(second)
            }
        }
        _ = await engine.statistics
        let told = order.withLock { $0 }
        #expect(told.count == 3 && told.last == "end")
    }

    @Test("a paused exchange resumed to its end leaves a connection that the late call does not close")
    func lateCall() async throws {
        let gate = RawGate()
        let head = bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(head), .wait(gate), .send("world")])
        let engine = try EngineHarness()
        let received = Counter()
        let pending = await engine.begin(try get(server.port)) {
            $0.pauseAtFirstBytes(counting: received)
        }
        await received.reaches(5)
        gate.open()
        try server.wait(for: 0, "the rest") { $0.sentCount == head.count + 5 }
        pending.resume()
        #expect(await pending.outcome().text == "helloworld")
        for _ in 0..<5 { _ = await engine.statistics }
        #expect(await engine.statistics.idle == 1)
    }
}
