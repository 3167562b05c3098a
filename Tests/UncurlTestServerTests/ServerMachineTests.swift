import Testing
import UncurlHTTP1

@testable import UncurlTestServer

@Suite struct ServerMachineTests {
    @Test("a request gets its response, exactly", arguments: [1, 7, Int.max])
    func exact(size: Int) {
        let server = MachineHarness()
        #expect(server.play("GET / HTTP/1.1\r\nHost: a\r\n\r\n", pieces: size) == .input)
        #expect(server.text == home)
        #expect(server.isIdle)
    }

    @Test(
        "pipelined requests are answered in their order, also when the first has to wait",
        arguments: [1, 13, Int.max]
    )
    func pipelined(size: Int) {
        let server = MachineHarness()
        let requests = ["/delay/0.1", "/bytes/3", "/", "/status/404", "/chunked/2/0.1", "/bytes/0"]
        server.play(requests.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined(), pieces: size)
        let starts = server.text.split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
        #expect(starts == ["200", "200", "200", "404", "200", "200"])
        #expect(server.text.hasSuffix("Content-Length: 0\r\n\r\n"))
        #expect(server.text.contains("6\r\nchunk\n\r\n6\r\nchunk\n\r\n0\r\n\r\n"))
        #expect(server.counters.requests.value == 6)
    }

    @Test("requests behind a delayed response are kept, and no answer comes before its time")
    func delayed() {
        let server = MachineHarness()
        let need = server.receive("GET /delay/3 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(need == .time(.seconds(3)))
        #expect(server.sent.isEmpty)
        #expect(server.counters.requests.value == 1)
        #expect(server.resume() == .input)
        #expect(server.text.hasSuffix(home))
        #expect(server.counters.requests.value == 2)
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        let status: Int
        let request: String
        var testDescription: String { "\(status): \(request.prefix(60).debugDescription)" }
    }

    static let refusals = [
        Refusal(status: 400, request: "GET / HTTP/1.1\r\n\r\n"),
        Refusal(status: 400, request: "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        Refusal(status: 400, request: "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
        // RFC 9110 §4.2.1: an http URI has a host.
        Refusal(status: 400, request: "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
        Refusal(status: 400, request: "GET /get HTTP/1.1\r\nHost: \r\n\r\n"),
        Refusal(status: 400, request: "GET /get HTTP/1.0\r\nHost:\r\n\r\n"),
        Refusal(status: 400, request: "OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n"),
        // RFC 9112 §2.3: one digit each, so that this is no version that could be unsupported.
        Refusal(status: 400, request: "GET / HTTP/01.01\r\nHost: a\r\n\r\n"),
        Refusal(status: 400, request: "GET / HTTP/1.01\r\nHost: a\r\n\r\n"),
        Refusal(status: 400, request: "GET / HTTP/11.1\r\nHost: a\r\n\r\n"),
        // RFC 9110 §9.3.8: a TRACE has no content.
        Refusal(status: 400, request: "TRACE / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"),
        Refusal(
            status: 400,
            request: "TRACE /get HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
        ),
        Refusal(status: 400, request: "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal(status: 400, request: "GET / HTTP/1.1\nHost: a\n\n"),
        Refusal(status: 400, request: "GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
        Refusal(status: 400, request: "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"),
        Refusal(status: 400, request: "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{0}b\r\n\r\n"),
        Refusal(status: 400, request: "GET relative HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal(status: 400, request: "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello"),
        Refusal(status: 400, request: "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello"),
        Refusal(
            status: 400,
            request:
                "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        Refusal(
            status: 400,
            request: "POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n"
        ),
        Refusal(status: 400, request: "POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
        Refusal(status: 400, request: "POST /post HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Refusal(status: 413, request: "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n"),
        Refusal(status: 414, request: "GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal(
            status: 417,
            request: "POST /post HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 5\r\n\r\nhello"
        ),
        Refusal(
            status: 431,
            request: "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 70_000))\r\n\r\n"
        ),
        Refusal(
            status: 431,
            request: "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 300))\r\n"
        ),
        Refusal(status: 501, request: "POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        Refusal(status: 501, request: "\(String(repeating: "M", count: 2000)) / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refusal(status: 505, request: "GET / HTTP/0.9\r\nHost: a\r\n\r\n"),
        Refusal(status: 505, request: "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
    ]

    @Test("a faulty request is answered with its status, and the connection ends", arguments: refusals)
    func refused(_ refusal: Refusal) {
        for size in [Int.max, 1] {
            let server = MachineHarness()
            #expect(server.play(refusal.request, pieces: size) == .end(.linger))
            #expect(server.text.hasPrefix("HTTP/1.1 \(refusal.status) "))
            #expect(server.text.contains("\r\nConnection: close\r\n"))
            #expect(server.text.split(separator: "HTTP/1.1 ").count == 1)
        }
    }

    @Test("a faulty request after valid ones does not change their responses")
    func faultAfterGood() {
        let server = MachineHarness()
        #expect(server.play("GET / HTTP/1.1\r\nHost: a\r\n\r\nBAD\r\n\r\n") == .end(.linger))
        #expect(server.text.hasPrefix(home + "HTTP/1.1 400 "))
    }

    @Test("a collected body that grows past the limit is answered 413 at once")
    func chunkedTooLarge() {
        var options = ServerOptions()
        options.collectedBodyBytes = 10
        let server = MachineHarness(options)
        let head = "POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(server.play(head + "a\r\n0123456789\r\n") == .input)
        #expect(server.play("1\r\nx") == .end(.linger))
        #expect(server.text.hasPrefix("HTTP/1.1 413 "))
    }

    @Test("a body that is not kept may be longer than the limit for collected bodies")
    func discardedBody() {
        var options = ServerOptions()
        options.collectedBodyBytes = 10
        let server = MachineHarness(options)
        let body = String(repeating: "x", count: 5000)
        server.play("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n\(body)", pieces: 999)
        #expect(server.text.hasSuffix("{\n  \"bytes\": 5000\n}\n"))
    }

    @Test("100 Continue is sent before the body is read, once, and only to HTTP/1.1")
    func expectation() {
        let server = MachineHarness()
        let head = "POST /upload HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n"
        #expect(server.play(head) == .input)
        #expect(server.text == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(server.play("abc") == .input)
        #expect(server.text.split(separator: "HTTP/1.1 ").map { $0.prefix(3) } == ["100", "200"])

        let old = MachineHarness()
        old.play("POST /upload HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(old.sent.isEmpty)
    }

    @Test("if the answer is known before the body, it replaces the 100, and the connection ends")
    func expectationRefused() {
        let server = MachineHarness()
        let head = "POST /nowhere HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        #expect(server.play(head) == .end(.linger))
        #expect(server.text.hasPrefix("HTTP/1.1 404 "))
        #expect(server.text.contains("Connection: close\r\n"))
    }

    @Test("HEAD gets the head of GET and no body", arguments: ["/", "/bytes/100", "/chunked/3/0", "/gzip", "/close"])
    func head(path: String) throws {
        let get = MachineHarness()
        get.play("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = MachineHarness()
        head.play("HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let end = try #require(get.text.firstRange(of: "\r\n\r\n"))
        // /gzip shows the method, so its length may differ.
        let lengthless = { (text: String) in
            text.split(separator: "\r\n").filter { !$0.hasPrefix("Content-Length") || path != "/gzip" }
        }
        #expect(lengthless(head.text) == lengthless(String(get.text[..<end.upperBound])))
        #expect(head.text.hasSuffix("\r\n\r\n"))
    }

    @Test("HTTP/1.0 ends after a response unless it asks for more, and never sees chunks")
    func oldVersion() {
        let plain = MachineHarness()
        #expect(plain.play("GET / HTTP/1.0\r\n\r\n") == .end(.close))
        #expect(plain.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(plain.text.contains("\r\nConnection: close\r\n"))
        let kept = MachineHarness()
        #expect(kept.play("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n") == .input)
        #expect(kept.text.contains("\r\nConnection: keep-alive\r\n"))
        let stream = MachineHarness()
        #expect(stream.play("GET /chunked/2/0 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n") == .end(.close))
        #expect(!stream.text.lowercased().contains("transfer-encoding"))
        #expect(stream.text.hasSuffix("\r\n\r\nchunk\nchunk\n"))
    }

    @Test("Connection: close ends the connection, lingering only if more has come than was asked")
    func closes() {
        let server = MachineHarness()
        #expect(server.play("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") == .end(.close))
        let talkative = MachineHarness()
        #expect(talkative.play("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /") == .end(.linger))
        #expect(talkative.counters.requests.value == 1)
    }

    @Test("the authority of an absolute-form target wins over Host")
    func absoluteForm() {
        let server = MachineHarness()
        server.play("GET http://b.example:81/get?x=1 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.text.contains("\"url\": \"http://b.example:81/get?x=1\""))
        #expect(server.text.contains("\"origin\": \"10.0.0.9\""))
    }

    @Test("the authority of an absolute-form target is enough where Host is empty")
    func absoluteFormWithoutHost() {
        let server = MachineHarness()
        #expect(server.play("GET http://b.example/get HTTP/1.1\r\nHost:\r\n\r\n") == .input)
        #expect(server.text.contains("\"url\": \"http://b.example/get\""))
    }

    @Test("a TRACE without content is a method that no route takes, and the connection goes on")
    func traceWithoutContent() {
        let server = MachineHarness()
        #expect(server.play("TRACE /get HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n") == .input)
        #expect(server.text.hasPrefix("HTTP/1.1 405 "))
        #expect(server.isIdle)
    }

    @Test(
        "an empty line between requests is skipped; where no request follows, the connection is idle and just ends",
        arguments: [1, Int.max]
    )
    func emptyLineBetweenRequests(size: Int) {
        let server = MachineHarness()
        let post = "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi\r\n"
        #expect(server.play(post, pieces: size) == .input)
        #expect(server.isIdle)
        server.releaseStorage()
        #expect(server.play("GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n", pieces: size) == .input)
        #expect(server.text.hasSuffix(home))
        #expect(server.isIdle)
        let length = server.sent.count
        #expect(server.timeOut() == .end(.close))
        #expect(server.sent.count == length)
    }

    @Test("an empty line before a request is skipped, and OPTIONS * is answered")
    func emptyLineAndOptions() {
        let server = MachineHarness()
        #expect(server.play("\r\nOPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n") == .input)
        #expect(server.text.contains("Allow: GET, HEAD, POST"))
        let proxy = MachineHarness()
        #expect(proxy.play("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n") == .input)
        #expect(proxy.text.hasPrefix("HTTP/1.1 501 "))
    }

    @Test("/echo sends the body back as it comes, in the request's own framing", arguments: [1, 9, Int.max])
    func echo(size: Int) {
        let server = MachineHarness()
        let chunked = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(server.play(chunked) == .input)
        #expect(server.text.hasSuffix("Transfer-Encoding: chunked\r\n\r\n"))
        server.play("5\r\nhello\r\n", pieces: .max)
        #expect(server.text.hasSuffix("\r\n\r\n5\r\nhello\r\n"))
        server.play("0\r\n\r\nPUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nwxyz", pieces: size)
        #expect(server.text.contains("hello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"))
        #expect(server.text.hasSuffix("Content-Length: 4\r\n\r\nwxyz"))
        #expect(server.isIdle)
    }

    @Test("a malformed request body under /echo cuts the response off without its end")
    func echoFault() {
        let server = MachineHarness()
        let request = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nZZ\r\n"
        #expect(server.play(request) == .end(.linger))
        #expect(server.text.hasSuffix("2\r\nhi\r\n"))
    }

    @Test("an endless body asks for room again and again instead of growing")
    func infinite() {
        let server = MachineHarness()
        #expect(server.receive("GET /infinite HTTP/1.1\r\nHost: a\r\n\r\n") == .room)
        for _ in 0..<20 {
            let before = server.sent.count
            #expect(server.resume() == .room)
            #expect(server.sent.count - before < 3 * ServerScratch.highWater)
        }
    }

    @Test("a pipeline of large responses asks for room between them")
    func pipelineRoom() {
        let server = MachineHarness()
        let requests = String(repeating: "GET /bytes/16384 HTTP/1.1\r\nHost: a\r\n\r\n", count: 100)
        #expect(server.receive(requests) == .room)
        #expect(server.sent.count < 3 * ServerScratch.highWater)
        var need = ServerMachine.Need.room
        while need == .room { need = server.resume() }
        #expect(need == .input)
        #expect(server.counters.requests.value == 100)
    }

    @Test("each requested fault ends its connection as requested")
    func faults() {
        let cut = MachineHarness()
        #expect(cut.play("GET /truncate?after=10 HTTP/1.1\r\nHost: a\r\n\r\n") == .end(.linger))
        #expect(cut.sent.suffix(14).prefix(4).elementsEqual([13, 10, 13, 10]))
        let reset = MachineHarness()
        #expect(reset.play("GET /reset?after=0 HTTP/1.1\r\nHost: a\r\n\r\n") == .end(.reset))
        #expect(reset.text.hasSuffix("Content-Length: 1000000\r\n\r\n"))
        let silent = MachineHarness()
        #expect(silent.play("GET /never HTTP/1.1\r\nHost: a\r\n\r\n") == .nothing)
        #expect(silent.sent.isEmpty)
        let frozen = MachineHarness()
        #expect(frozen.receive("GET /freeze?ms=70 HTTP/1.1\r\nHost: a\r\n\r\n") == .freeze(.milliseconds(70)))
        #expect(frozen.resume() == .input)
        #expect(frozen.text.hasSuffix("thawed\n"))
    }

    @Test("a request that stops half-way is answered 408, an idle connection just ends")
    func timeOut() {
        let idle = MachineHarness()
        idle.play("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let before = idle.sent.count
        #expect(idle.timeOut() == .end(.close))
        #expect(idle.sent.count == before)
        for part in ["GET / HT", "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf"] {
            let server = MachineHarness()
            server.play(part)
            #expect(server.timeOut() == .end(.linger))
            #expect(server.text.hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test("while the server drains, every response says that the connection ends")
    func draining() {
        let server = MachineHarness()
        #expect(server.receive("GET /delay/1 HTTP/1.1\r\nHost: a\r\n\r\n") == .time(.seconds(1)))
        server.scratch.isDraining = true
        #expect(server.resume() == .end(.close))
        #expect(server.text.contains("Connection: close\r\n"))
        let fast = MachineHarness()
        fast.scratch.isDraining = true
        #expect(fast.play("GET / HTTP/1.1\r\nHost: a\r\n\r\n") == .end(.close))
        #expect(fast.text.contains("Connection: close\r\n"))
    }

    @Test("the last chunk carries the trailers, and 103 goes ahead of the response it hints at")
    func trailersAndHints() {
        let server = MachineHarness()
        server.play("GET /trailers HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.text.hasSuffix("6\r\npiece\n\r\n0\r\nX-Checksum: 42\r\nX-Pieces: 3\r\n\r\n"))
        let hinted = MachineHarness()
        hinted.play("GET /hints HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(
            hinted.text.hasPrefix(
                "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\nHTTP/1.1 200 OK\r\n"
            )
        )
    }

    @Test("a query cannot add a field to the response")
    func injection() {
        let server = MachineHarness()
        server.play("GET /response-headers?X=a%0d%0aSet-Cookie:b=c HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.text.hasPrefix("HTTP/1.1 400 "))
        #expect(!server.text.contains("\r\nSet-Cookie"))
        let redirect = MachineHarness()
        redirect.play("GET /redirect-to?url=%0d%0aX:y HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(redirect.text.hasPrefix("HTTP/1.1 400 "))
    }
}
