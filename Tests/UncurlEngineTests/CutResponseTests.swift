import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine
import UncurlReactor
import UncurlTestServer

/// The bar: a response cut by FIN or RST at every byte is never a success before its end, and never hangs.
@Suite("A response cut at every byte", .ownThread)
struct CutResponseTests {
    enum Framing: String, CaseIterable {
        case length = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 12\r\n\r\nhello, world"
        case chunked =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6;a=b\r\nhello,\r\n6\r\n world\r\n0\r\nX-T: 1\r\n\r\n"
        case close = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello, world"

        var bytes: [UInt8] { Array(rawValue.utf8) }
        var headLength: Int { rawValue.utf8.count - body }
        private var body: Int {
            switch self {
            case .length, .close: 12
            case .chunked: "6;a=b\r\nhello,\r\n6\r\n world\r\n0\r\nX-T: 1\r\n\r\n".utf8.count
            }
        }
    }

    @Test(
        "a response that a FIN cuts anywhere is cut off, and whole where the framing ends with the connection",
        .scenario(18, 19, 20, 21),
        arguments: Framing.allCases
    )
    func fin(framing: Framing) async throws {
        try await everyOffset(framing, .fin)
    }

    @Test(
        "a response that an RST cuts anywhere is cut off, and whole where all of it had come",
        .scenario(18, 19, 20, 22, 23),
        arguments: Framing.allCases
    )
    func reset(framing: Framing) async throws {
        try await everyOffset(framing, .reset)
    }

    @Test("a stall", arguments: Framing.allCases)
    func stall(framing: Framing) async throws {
        let response = framing.bytes
        let server = try RawServer.start((0...response.count).map { .cutting(response, at: $0, ending: .stall) })
        var configuration = EngineConfiguration()
        configuration.exchangesPerConnection = 1
        configuration.timeouts.idle = .seconds(5)
        let engine = try EngineHarness(configuration, clock: ManualClock())
        let request = try get(server.port)
        for offset in 0...response.count {
            let pending = await engine.begin(request)
            try server.wait(for: offset, "the stall") { $0.stepsDone == 3 }
            // Bytes that came count as activity of the moment they are read in: it may take a second step.
            await engine.passTime(by: .seconds(6)) { pending.isFinished }
            check(await pending.outcome(), framing, .stall, offset)
        }
        #expect(await engine.statistics == EngineStatistics())
    }

    private func everyOffset(_ framing: Framing, _ ending: RawEnding) async throws {
        let response = framing.bytes
        let server = try RawServer.start((0...response.count).map { .cutting(response, at: $0, ending: ending) })
        var configuration = EngineConfiguration()
        configuration.exchangesPerConnection = 1
        let engine = try EngineHarness(configuration)
        let request = try get(server.port)
        for offset in 0...response.count {
            let result = await engine.run(request)
            check(result, framing, ending, offset)
        }
        #expect(server.connections.count == response.count + 1, "no retry: every connection is fresh")
        #expect(await engine.statistics == EngineStatistics())
    }

    private func check(_ result: Recorded, _ framing: Framing, _ ending: RawEnding, _ offset: Int) {
        let whole = framing.bytes.count
        let note: Comment = "\(framing) \(ending) at \(offset): \(String(describing: result.error))"
        // Until-close content ends with the connection: any FIN after the head is an end the RFC accepts.
        let mayEnd = offset == whole || (framing == .close && offset >= framing.headLength)
        switch ending {
        case .fin where framing == .close && mayEnd, .fin where offset == whole:
            #expect(result.succeeded, note)
        case .fin:
            #expect(!result.succeeded, note)
        case .reset where offset == whole && framing != .close:
            // The kernel may drop what an RST overtakes; but if all of it arrived, it is a whole response.
            if !result.succeeded { #expect(result.error != .timedOut(.idle), note) }
        case .reset:
            #expect(!result.succeeded, note)
            #expect(result.error != .timedOut(.idle), note)
        case .stall where offset == whole && framing != .close:
            #expect(result.succeeded, note)
        case .stall:
            #expect(result.error == .timedOut(.idle), note)
        }
        if framing == .length, ending == .fin, offset >= framing.headLength, offset < whole {
            let got = offset - framing.headLength
            #expect(result.error == .truncatedBody(expected: 12, received: UInt64(got), nil), note)
            #expect(result.body == Array(framing.bytes[framing.headLength..<offset]), note)
        }
        switch result.error {
        case .closedBeforeResponse?: #expect(offset == 0 || ending == .reset, note)
        case .truncatedHead?: #expect(offset < framing.headLength || ending == .reset, note)
        case .truncatedBody?: #expect(offset >= framing.headLength, note)
        case .timedOut(.idle)?: #expect(ending == .stall, note)
        case nil: break
        default: Issue.record(note)
        }
    }
}
