import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics

@testable import UncurlEngine

@Suite("Expect: 100-continue", .ownThread, .timeLimit(.minutes(5)))
struct ExpectationTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private let goOn = bytes("HTTP/1.1 100 Continue\r\n\r\n")
    private let failed = bytes("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
    private static let memory = Content.bytes(bytes("hello"))
    private static let stream = Content.stream(length: 5, replayable: false)

    private func put(_ port: UInt16, _ body: Content = memory, idle: Duration? = nil) throws -> EngineRequest {
        var options = EngineRequest.Options()
        options.expectsContinueAbove = 0
        if let idle { options.timeouts = Timeouts(idle: idle) }
        return try EngineRequest(method: "PUT", origin: origin(port), body: body, options: options)
    }

    /// Gives the engine every chance to send what it should hold back.
    private func turns(_ engine: EngineHarness) async { for _ in 0..<10 { _ = await engine.statistics } }

    @Test(
        "applies to content, above a length or of unknown length",
        arguments: [
            (nil, 9, false), (nil, nil, false), (0, 1, true), (0, 0, false), (9, 10, true), (9, 9, false),
            (9, nil, true), (0, nil, true),
        ] as [(UInt64?, UInt64?, Bool)]
    )
    func rule(above limit: UInt64?, length: UInt64?, applies: Bool) throws {
        var options = EngineRequest.Options()
        options.expectsContinueAbove = limit
        let body = Content.stream(length: length, replayable: false)
        let request = try EngineRequest(method: "PUT", origin: Origin(host: "a"), body: body, options: options)
        #expect((request.continueWait > 0) == applies)
    }

    @Test("is for the engine to say, and not said by a request without content or in a pipeline")
    func requests() throws {
        var fields = HTTPFields()
        try fields.append("expect", "100-continue")
        #expect(throws: EngineError.invalidRequest(.reservedField("Expect"))) {
            try EngineRequest(origin: origin(1), fields: fields)
        }
        for body in [Content.none, .bytes([])] {
            #expect(!String(decoding: try put(1, body).serialized, as: UTF8.self).contains("Expect"))
        }
        var options = EngineRequest.Options()
        (options.expectsContinueAbove, options.pipelineDepth) = (0, 2)
        #expect(throws: EngineError.invalidRequest(.pipelineThatWaits)) {
            try EngineRequest(method: "PUT", origin: origin(1), body: Self.memory, options: options)
        }
        let request = try put(1)
        let with = String(decoding: request.serialized, as: UTF8.self)
        #expect(with.hasSuffix("\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"))
        let without = String(decoding: request.serializedWithoutExpectation, as: UTF8.self)
        #expect(without.hasSuffix("\r\nContent-Length: 5\r\n\r\n"))
    }

    @Test("content waits for the 100, and for no other word", arguments: [memory, stream])
    func waits(body: Content) async throws {
        let (early, late) = (RawGate(), RawGate())
        let hints = bytes("HTTP/1.1 103 Early Hints\r\n\r\n")
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .wait(early), .send(hints), .wait(late), .send(goOn), .receive(.bytes(5)), .send(ok),
        ])
        // Time stands still: the wait never ends by itself.
        let engine = try EngineHarness(clock: ManualClock())
        let heads = Counter()
        let pending = await engine.begin(try put(server.port, body)) {
            $0.bodyParts = [.bytes(bytes("hello"))]
            $0.onHead = { _, _ in heads.add() }
        }
        try server.wait(for: 0, "the head") { $0.receivedText.hasSuffix("\r\n\r\n") }
        early.open()
        await heads.reaches(1)
        await turns(engine)
        #expect(server.connections[0].receivedText.hasSuffix("Expect: 100-continue\r\n\r\n"))
        late.open()
        let result = await pending.outcome()
        #expect(result.text == "ok" && result.sent == 5 && result.informational == [103, 100])
        #expect(server.connections[0].receivedText.hasSuffix("\r\n\r\nhello"))
        #expect(await engine.statistics.idle == 1)
    }

    @Test("a server that never says 100 gets the content after a while, and may say it afterwards", .scenario(29))
    func silence() async throws {
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .receive(.bytes(5)), .send(goOn + ok)])
        let clock = ManualClock()
        let engine = try EngineHarness(clock: clock)
        let pending = await engine.begin(try put(server.port))
        try server.wait(for: 0, "the head") { $0.receivedText.hasSuffix("\r\n\r\n") }
        clock.advance(by: .milliseconds(900), waking: engine.loop)
        await turns(engine)
        #expect(server.connections[0].receivedText.hasSuffix("\r\n\r\n"))
        clock.advance(by: .milliseconds(200), waking: engine.loop)
        let result = await pending.outcome()
        #expect(result.text == "ok" && result.informational == [100])
        #expect(await engine.statistics.idle == 1)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test("other limits go on while content waits")
    func limits() async throws {
        let server = try RawServer.start(otherwise: .silent)
        let clock = ManualClock()
        let engine = try EngineHarness(clock: clock)
        let pending = await engine.begin(try put(server.port, idle: .milliseconds(500)))
        try server.wait(for: 0, "the head") { $0.receivedText.hasSuffix("\r\n\r\n") }
        clock.advance(by: .milliseconds(600), waking: engine.loop)
        #expect(await pending.outcome().error == .timedOut(.idle))
        #expect(server.connections[0].receivedText.hasSuffix("Expect: 100-continue\r\n\r\n"))
    }

    @Test(
        "after 417 the request is sent once more without it, also where its content is given once",
        .scenario(29)
    )
    func expectationFailed() async throws {
        for body in [Self.memory, Self.stream] {
            let server = try RawServer.start(
                [[.receive(.headEnd), .send(failed)]],
                otherwise: [.receive(.headEnd), .receive(.bytes(5)), .send(ok)]
            )
            let engine = try EngineHarness(clock: ManualClock())
            let result = await engine.run(try put(server.port, body)) { $0.bodyParts = [.bytes(bytes("hello"))] }
            #expect(result.status == 200 && result.text == "ok" && result.sent == 5 && result.outcomes == 1)
            #expect(result.report?.retried == true && result.report?.reusedConnection == false)
            #expect(result.report?.bytesReceived == UInt64(ok.count))
            #expect(server.connections[0].receivedText.hasSuffix("Expect: 100-continue\r\n\r\n"))
            #expect(server.connections[1].receivedText.hasSuffix("Content-Length: 5\r\n\r\nhello"))
            #expect(await engine.statistics.idle == 1)
        }
    }

    @Test("a 417 to a request that expects nothing, or does no longer, is an answer like another")
    func plain417() async throws {
        let server = try RawServer.start(otherwise: .answering(failed))
        let engine = try EngineHarness(clock: ManualClock())
        let result = await engine.run(try put(server.port))
        #expect(result.status == 417 && result.text == "no" && server.connections.count == 2)
        #expect(await engine.run(try get(server.port)).status == 417)
    }

    @Test(
        "a final status instead of 100 is the answer: no content follows, the connection is not used again",
        .scenario(29)
    )
    func finalStatus() async throws {
        for status in ["401 Unauthorized", "200 OK"] {
            let gate = RawGate()
            let server = try RawServer.start(otherwise: [
                .receive(.headEnd), .send("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nn"), .wait(gate), .send("o"),
            ])
            let engine = try EngineHarness(clock: ManualClock())
            let head = Counter()
            let pending = await engine.begin(try put(server.port, Self.stream)) {
                $0.onHead = { _, _ in head.add() }
                $0.onNeedsBody = { _, _ in
                    Issue.record("content was asked for")
                    return .failed
                }
            }
            await head.reaches(1)
            await turns(engine)
            gate.open()
            let result = await pending.outcome()
            #expect(result.text == "no" && result.sent == 0 && result.report?.requestEndIsMissing == true)
            let record = try server.waitForEnd(of: 0)
            #expect(record.receivedText.hasSuffix("Expect: 100-continue\r\n\r\n"))
            #expect(await engine.statistics == EngineStatistics())
        }
    }

    @Test("a refusal during the upload is delivered, nothing more of the content is asked for, and the connection ends")
    func refusedUpload() async throws {
        let gate = RawGate()
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .receive(.bytes(3)),
            .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nb"), .wait(gate), .send("ig"),
        ])
        let engine = try EngineHarness()
        let (head, asked) = (Counter(), Counter())
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: 1 << 40, replayable: false)
        )
        let pending = await engine.begin(request) {
            $0.onHead = { _, _ in head.add() }
            $0.onNeedsBody = { _, _ in
                asked.add()
                return .bytes([UInt8](repeating: 7, count: 65_536))
            }
        }
        await head.reaches(1)
        let before = asked.value
        pending.bodyReady()
        await turns(engine)
        #expect(asked.value == before)
        gate.open()
        let result = await pending.outcome()
        #expect(result.status == 413 && result.text == "big" && result.succeeded)
        #expect(await engine.statistics == EngineStatistics())
        #expect(try server.waitForEnd(of: 0).sawReset)
    }

    @Test("an answer of success may come while its request is still being sent, which goes on")
    func echo() async throws {
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nec"), .receive(.bytes(4)),
            .send("ho"),
        ])
        let engine = try EngineHarness()
        let request = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            body: .stream(length: 4, replayable: false)
        )
        let pending = await engine.begin(request) {
            $0.onNeedsBody = { recorder, offset in
                offset == 4 ? .end(trailers: nil) : recorder.recorded.body.isEmpty ? .later : .bytes(bytes("ping"))
            }
            $0.onBytes = { recorder, _ in recorder.engine.bodyReady(recorder.id) }
        }
        let result = await pending.outcome()
        #expect(result.text == "echo" && result.sent == 4)
        #expect(await engine.statistics.idle == 1)
    }

    @Test("an upload that is cut off without an answer says how much of it had left")
    func aborted() async throws {
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .receive(.bytes(3)), .reset])
        let engine = try EngineHarness()
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: 9, replayable: true)
        )
        let result = await engine.run(request) {
            $0.onNeedsBody = { _, offset in offset == 0 ? .bytes(bytes("abc")) : .later }
        }
        #expect(result.error == .uploadAborted(sent: 3, .connectionReset))
        #expect(result.report?.retried == false)
    }
}

extension ExchangeReport {
    fileprivate var requestEndIsMissing: Bool { timings.requestEnd == nil }
}
