import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl

/// What a stream may hold: as much as language models send, and what the caller allows.
@Suite("Limits of streams", .timeLimit(.minutes(5)))
struct StreamLimitTests {
    private static let long = String(repeating: "a", count: 3 << 20)

    @Test("a line and an event of 3 MiB are read", .rows("B14"))
    func long() throws {
        let bytes = Array(Self.long.utf8)
        var (splitter, lines) = (LineSplitter(), [[UInt8]]())
        try splitter.take(bytes + [0x0A], into: &lines)
        #expect(lines == [bytes])
        var (parser, events) = (ServerSentEventParser(), [ServerSentEvent]())
        try parser.take(Array("data: ".utf8) + bytes + [0x0A, 0x0A], into: &events)
        #expect(events.map(\.data) == [Self.long])
    }

    @Test("an event beyond the caller's limit ends the sequence with an error that names the limit", .rows("B14"))
    func events() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        let answer = "\(head)data: 1\n\ndata: 12345678\n\n"
        let raw = try RawServer.start([], otherwise: [.receive(.headEnd), .send(answer)])
        let manager = raw.manager()
        var seen: [String] = []
        do {
            for try await event in manager.events(HTTPRequest("events"), limit: 10) { seen.append(event.data) }
            Issue.record("no limit")
        } catch {
            #expect("\(error)".contains("events(limit:)"))
        }
        #expect(seen == ["1"])
    }

    @Test("a request's own limits on heads apply to it alone, and its error names them")
    func heads() async throws {
        let field = "X-Long: \(String(repeating: "a", count: 1_000))\r\n"
        let answer = "HTTP/1.1 200 OK\r\n\(field)Content-Length: 2\r\n\r\nok"
        let raw = try RawServer.start([], otherwise: .answering(Array(answer.utf8)))
        let manager = raw.manager()
        var options = RequestOptions()
        var limits = ResponseLimits()
        limits.fieldLength = 100
        options.responseLimits = limits
        var request = HTTPRequest("/")
        request.options = options
        let failed = await manager.response(to: request, serializer: .data)
        #expect(failed.error.map { "\($0)" }?.contains("ResponseLimits.fieldLength") == true)
        #expect(await manager.response(to: HTTPRequest("/"), serializer: .data).value == Data("ok".utf8))
    }

    @Test("to set thousands of a request's fields one at a time takes a time that grows with their number")
    func fields() {
        let numbers = { (count: Int) in 0..<count }
        expectProportionalTime(from: 1_000, of: numbers) { numbers in
            var headers = HTTPHeaders()
            for number in numbers { headers["X-\(number)"] = "a" }
            for number in numbers { headers["x-\(number)"] = "b" }
        }
        var headers: HTTPHeaders = [:]
        for number in 0..<100 { headers["X-\(number)"] = "a" }
        headers["x-7"] = nil
        headers["x-50"] = "b"
        headers.add("X-50", "c")
        headers["X-50"] = "d"
        #expect(headers.count == 99 && headers.values(of: "X-50") == ["d"] && !headers.contains("X-7"))
    }
}
