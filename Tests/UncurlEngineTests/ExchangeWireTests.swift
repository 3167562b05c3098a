import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics

@testable import UncurlEngine

/// Exact bytes both ways, against a server that does as scripted.
@Suite("An exchange on the wire", .ownThread)
struct ExchangeWireTests {
    private let small = bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    @Test("a GET is one request with Host first, and its answer arrives whole")
    func get() async throws {
        let server = try RawServer.start(otherwise: .answering(small))
        let engine = try EngineHarness()
        let result = await engine.run(try UncurlEngineTests.get(server.port, "/path?q=1"))
        #expect(result.error == nil)
        #expect(result.status == 200)
        #expect(result.text == "hello")
        let fields = "Host: 127.0.0.1:\(server.port)\r\nAccept-Encoding: \(acceptedCodings)\r\n"
        #expect(server.connections[0].receivedText == "GET /path?q=1 HTTP/1.1\r\n\(fields)\r\n")
    }

    @Test("memory content is framed by its length and sent once")
    func post() async throws {
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .receive(.bytes(11)), .send(small)])
        let engine = try EngineHarness()
        var fields = HTTPFields()
        try fields.append("Content-Type", "text/plain")
        let request = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            fields: fields,
            body: .bytes(bytes("hello world"))
        )
        let result = await engine.run(request)
        #expect(result.succeeded)
        #expect(result.sent == 11)
        #expect(result.report?.contentSent == 11)
        let text = server.connections[0].receivedText
        #expect(text.hasSuffix("Content-Length: 11\r\n\r\nhello world"))
        #expect(text.contains("\r\nContent-Type: text/plain\r\n"))
    }

    @Test("POST without content says so; GET says nothing (RFC 9110 §8.6)")
    func lengths() async throws {
        let server = try RawServer.start(otherwise: .answering(small))
        let engine = try EngineHarness()
        _ = await engine.run(try EngineRequest(method: "POST", origin: origin(server.port)))
        #expect(server.connections[0].receivedText.contains("\r\nContent-Length: 0\r\n"))
        let before = server.connections[0].received.count
        _ = await engine.run(try UncurlEngineTests.get(server.port))
        #expect(!String(decoding: server.connections[0].received[before...], as: UTF8.self).contains("Content-Length"))
    }

    @Test("a streamed body of unknown length goes in chunks, with trailers")
    func chunkedUpload() async throws {
        let tail = "0\r\nX-Sum: 9\r\n\r\n"
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .receive(.bytes(bytes("5\r\nhello\r\n6\r\n world\r\n").count + tail.utf8.count)),
            .send(small),
        ])
        let engine = try EngineHarness()
        var trailers = HTTPFields()
        try trailers.append("X-Sum", "9")
        let ending = trailers
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: nil, replayable: false)
        )
        let result = await engine.run(request) {
            $0.bodyParts = [.bytes(bytes("hello")), .bytes([]), .bytes(bytes(" world")), .end(trailers: ending)]
        }
        #expect(result.succeeded)
        #expect(result.sent == 11)
        #expect(
            server.connections[0].receivedText.hasSuffix(
                "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n" + tail
            )
        )
    }

    @Test("a source that has nothing yet is asked again when it says so")
    func laterBody() async throws {
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .receive(.bytes(4)), .send(small)])
        let engine = try EngineHarness()
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: 4, replayable: false)
        )
        let pending = await engine.begin(request) { $0.bodyParts = [.bytes(bytes("ab")), .later, .bytes(bytes("cd"))] }
        try server.wait(for: 0, "the first half") { $0.receivedText.hasSuffix("\r\n\r\nab") }
        pending.bodyReady()
        let result = await pending.outcome()
        #expect(result.succeeded && result.sent == 4)
    }

    @Test("a body that ends short of its length, or runs past it, is aborted and never looks whole")
    func bodyLength() async throws {
        let server = try RawServer.start(otherwise: .silent)
        let engine = try EngineHarness()
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: 5, replayable: false)
        )
        let short = await engine.run(request) { $0.bodyParts = [.bytes(bytes("abc"))] }
        #expect(short.error == .bodyLengthMismatch(declared: 5, given: 3))
        #expect(try server.waitForEnd(of: 0).sawReset)
        let long = await engine.run(request) { $0.bodyParts = [.bytes(bytes("abcdefg"))] }
        #expect(long.error == .bodyLengthMismatch(declared: 5, given: 7))
        #expect(try server.waitForEnd(of: 1).receivedText.hasSuffix("\r\n\r\n"))
        let broken = await engine.run(request) { $0.bodyParts = [.bytes(bytes("abc")), .failed] }
        #expect(broken.error == .bodyFailed)
    }

    @Test("informational heads come before the final one, and end nothing")
    func informational() async throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        let server = try RawServer.start(otherwise: .answering(bytes("HTTP/1.1 100 Continue\r\n\r\n" + hints) + small))
        let engine = try EngineHarness()
        let result = await engine.run(try UncurlEngineTests.get(server.port))
        #expect(result.informational == [100, 103])
        #expect(result.status == 200 && result.text == "hello")
        #expect(await engine.statistics.idle == 1)
    }

    @Test("trailers that would frame, route or authenticate are not sent, and leave no whole message behind")
    func forbiddenTrailers() async throws {
        let server = try RawServer.start(otherwise: .silent)
        var trailers = HTTPFields()
        try trailers.append("Content-Length", "9")
        let ending = trailers
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: nil, replayable: false)
        )
        let result = await (try EngineHarness()).run(request) { $0.bodyParts = [.end(trailers: ending)] }
        guard case .invalidRequest(.syntax(let error))? = result.error else {
            Issue.record("\(result)")
            return
        }
        #expect(error.kind == .forbiddenTrailer)
        #expect(try server.waitForEnd(of: 0).sawReset)
    }

    @Test("trailers are delivered apart from the head's fields")
    func trailers() async throws {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n"
        let server = try RawServer.start(otherwise: .answering(bytes(chunked)))
        let result = await (try EngineHarness()).run(try UncurlEngineTests.get(server.port))
        #expect(result.text == "abc")
        #expect(result.trailers?["x-sum"] == "1")
        #expect(result.head?.fields["x-sum"] == nil)
    }

    @Test("HEAD, 204 and 304 have no content whatever their fields say, and the next response is not mistaken")
    func bodiless() async throws {
        let odd = "Content-Length: 5\r\n\r\n"
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n" + odd),
            .receive(.headEnd), .send("HTTP/1.1 304 Not Modified\r\n" + odd),
            .receive(.headEnd), .send("HTTP/1.1 204 No Content\r\n\r\n"),
            .receive(.headEnd), .send(small),
        ])
        let engine = try EngineHarness()
        let head = await engine.run(try EngineRequest(method: "HEAD", origin: origin(server.port)))
        #expect(head.succeeded && head.status == 200 && head.body.isEmpty)
        #expect(await engine.run(try UncurlEngineTests.get(server.port)).status == 304)
        #expect(await engine.run(try UncurlEngineTests.get(server.port)).status == 204)
        let last = await engine.run(try UncurlEngineTests.get(server.port))
        #expect(last.status == 200 && last.text == "hello")
        #expect(server.connections.count == 1)
        #expect(last.report?.reusedConnection == true)
    }

    @Test("a final answer before the body is sent is delivered, and the connection not used again")
    func earlyAnswer() async throws {
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"),
        ])
        let engine = try EngineHarness()
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .stream(length: 100, replayable: false)
        )
        let result = await engine.run(request) { $0.onNeedsBody = { _, _ in .later } }
        #expect(result.succeeded && result.status == 413)
        #expect(await engine.statistics == EngineStatistics())
    }

    @Test("a request the caller contradicts itself in is refused before anything is sent")
    func refused() throws {
        for name in ["Host", "content-length", "Transfer-Encoding"] {
            var fields = HTTPFields()
            try fields.append(name, "1")
            #expect(throws: EngineError.self) { try EngineRequest(origin: origin(1), fields: fields) }
        }
        for method in ["", "GE T", "GET\r\n", "GÉT"] {
            #expect(throws: EngineError.self) { try EngineRequest(method: method, origin: origin(1)) }
        }
        for target in ["", "a b", "/a\r\nX: y", "/\u{0}", "nopath"] {
            #expect(throws: EngineError.self) { try EngineRequest(origin: origin(1), target: target) }
        }
        for host in ["", "a b", "a/b", "user@host", "a\r\nb", "[::1", "::g", "a%2fb", "h\u{10A}st"] {
            #expect(throws: URLHost.Problem.self) { try Origin(host: host) }
        }
    }

    @Test("Host carries the port only where it is not the scheme's, and brackets around IPv6")
    func authority() throws {
        #expect(try Origin(host: "Example.COM").authority == "example.com")
        #expect(try Origin(host: "a.b", port: 80).authority == "a.b")
        #expect(try Origin(host: "a.b", port: 8080).authority == "a.b:8080")
        #expect(try Origin(host: "[::1]", port: 81).authority == "[::1]:81")
        #expect(try Origin(host: "fe80::1%1").authority == "[fe80::1]")
    }

    @Test("a pipeline sends its requests in one piece and tells each response")
    func pipeline() async throws {
        let server = try RawServer.start(otherwise: .answering(small))
        var options = EngineRequest.Options()
        options.pipelineDepth = 8
        let request = try EngineRequest(origin: origin(server.port), options: options)
        let result = await (try EngineHarness()).run(request)
        #expect(result.succeeded)
        #expect(result.outcomes == 8)
        #expect(result.text == String(repeating: "hello", count: 8))
        #expect(server.connections[0].receivedText.split(separator: "\r\n\r\n").count == 8)
    }

    @Test("a pipeline that breaks off says how many responses were lost")
    func brokenPipeline() async throws {
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(small), .send(small), .close])
        var options = EngineRequest.Options()
        options.pipelineDepth = 5
        let request = try EngineRequest(origin: origin(server.port), options: options)
        let result = await (try EngineHarness()).run(request)
        #expect(result.outcomes == 3)
        #expect(result.error != nil)
        #expect(result.report?.remaining == 3)
    }

    @Test("gzip content is decoded, both counts are kept, and turning it off delivers the bytes")
    func decoding() async throws {
        let coded: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0,
            0,
        ]
        let head = bytes("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n")
        let server = try RawServer.start(otherwise: .answering(head + coded))
        let engine = try EngineHarness()
        let decoded = await engine.run(try UncurlEngineTests.get(server.port))
        #expect(decoded.text == "hello")
        #expect(decoded.report?.contentReceived == 25)
        #expect(decoded.report?.contentDelivered == 5)
        var options = EngineRequest.Options()
        options.decodesContent = false
        let raw = await engine.run(try EngineRequest(origin: origin(server.port), options: options))
        #expect(raw.body == coded)
        let cut = try RawServer.start(
            otherwise: .answering(
                bytes("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 24\r\n\r\n") + coded.dropLast()
            )
        )
        #expect(await engine.run(try UncurlEngineTests.get(cut.port)).error == .undecodable(.truncated))
    }

    @Test("content that cannot be decoded gives its connection's place to the next request, however often it comes")
    func undecodable() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n"
        let broken = RawScript.answering(bytes(head + "wrong"))
        let server = try RawServer.start([broken, broken, broken], otherwise: .answering(small))
        var configuration = EngineConfiguration()
        (configuration.connectionsPerHost, configuration.connections) = (1, 1)
        let engine = try EngineHarness(configuration)
        for _ in 0..<3 {
            guard case .undecodable? = await engine.run(try UncurlEngineTests.get(server.port)).error else {
                Issue.record("content that is no gzip was decoded")
                return
            }
        }
        #expect(await engine.run(try UncurlEngineTests.get(server.port)).text == "hello")
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test("codings of content that does not exist are not looked at")
    func codingWithoutContent() async throws {
        let fields = "Content-Encoding: gzip, gzip, gzip, gzip\r\n"
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\(fields)\r\n"),
            .receive(.headEnd), .send("HTTP/1.1 304 Not Modified\r\n\(fields)\r\n"),
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(fields)\r\n"),
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\(fields)\r\nhello"),
        ])
        let engine = try EngineHarness()
        #expect(await engine.run(try EngineRequest(method: "HEAD", origin: origin(server.port))).succeeded)
        #expect(await engine.run(try UncurlEngineTests.get(server.port)).status == 304)
        #expect(await engine.run(try UncurlEngineTests.get(server.port)).status == 200)
        #expect(await engine.run(try UncurlEngineTests.get(server.port)).error == .undecodable(.tooManyCodings(4)))
    }

    @Test("a part of a representation is asked for as it is: half a gzip stream would not decode (RFC 9110 §14.2)")
    func range() throws {
        var fields = HTTPFields()
        try fields.append("Range", "bytes=5-9")
        let request = try EngineRequest(origin: origin(1), fields: fields)
        #expect(!request.decodesContent)
    }
}
