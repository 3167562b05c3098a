import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics

@testable import UncurlEngine

@Suite("Proxy tunnel")
struct ProxyTunnelTests {
    private struct Outcome: Equatable {
        var step: ProxyTunnel.Step
        var surplus: String
    }

    private func run(_ answer: String, piece size: Int = .max) throws(ProxyError) -> Outcome {
        var tunnel = ProxyTunnel(to: "example.com:443")
        do { _ = try tunnel.ask(authorization: nil) } catch { Issue.record(error) }
        let input = Array(answer.utf8)
        var (start, step) = (0, ProxyTunnel.Step.needsInput)
        while start < input.count, step == .needsInput {
            let end = size < input.count - start ? start + size : input.count
            let piece = Array(input[start..<end])
            var offset = 0
            step = try tunnel.receive(piece.span, from: &offset)
            start += offset
        }
        return Outcome(step: step, surplus: String(decoding: input[start...], as: UTF8.self))
    }

    private func refusal(_ answer: String, piece: Int = .max) throws -> (ProxyRefusal, Bool) {
        guard case .refused(let refusal, let reusable) = try run(answer, piece: piece).step else {
            throw Unexpected()
        }
        return (refusal, reusable)
    }

    private struct Unexpected: Error {}

    @Test("CONNECT names host and port in target and Host, and carries nothing else but the proxy's credentials")
    func request() throws {
        var tunnel = ProxyTunnel(to: "[::1]:443")
        var bytes = try tunnel.ask(authorization: nil)
        #expect(String(decoding: bytes, as: UTF8.self) == "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n")
        bytes = try tunnel.ask(authorization: Array("Basic eA==".utf8))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nProxy-Authorization: Basic eA==\r\n\r\n"
        )
        for bad in ["a\r\nX: y:443", "a b:443", "", "u@a:443"] {
            #expect(throws: HTTP1Error.self) {
                var tunnel = ProxyTunnel(to: bad)
                _ = try tunnel.ask(authorization: nil)
            }
        }
        #expect(throws: HTTP1Error.self) { try tunnel.ask(authorization: Array("Basic a\r\nX: y".utf8)) }
    }

    @Test(
        "any 2xx opens the tunnel, whatever it says of content, and what follows its head is the tunnel's",
        .scenario(37),
        arguments: [
            "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 Connection established\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 299 \r\nConnection: close\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ]
    )
    func opens(head: String) throws {
        let bytes = head + "\u{16}\u{3}\u{1}hello"
        let whole = try run(bytes)
        #expect(whole == Outcome(step: .open, surplus: "\u{16}\u{3}\u{1}hello"))
        for size in 1..<bytes.utf8.count { #expect(try run(bytes, piece: size) == whole) }
        for end in 0..<head.utf8.count {
            #expect(try run(String(decoding: Array(head.utf8)[..<end], as: UTF8.self)).step == .needsInput)
        }
    }

    @Test(
        "another answer is the proxy's own, with its status, its challenges and the beginning of its words",
        .scenario(37)
    )
    func refused() throws {
        let answer = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\noops"
        for size in 1...answer.utf8.count {
            let (refusal, reusable) = try refusal(answer, piece: size)
            #expect(refusal.status == 502 && refusal.reason == "Bad Gateway" && reusable)
            #expect(refusal.content == Array("oops".utf8) && refusal.challenges.isEmpty)
        }
        let (asked, _) = try refusal(
            "HTTP/1.1 407 A\r\nProxy-Authenticate: Basic realm=x\r\nWWW-Authenticate: Basic realm=y\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
        )
        #expect(asked.challenges.map(\.realm) == ["x"] && asked.content == Array("abc".utf8))
    }

    @Test(
        "a refused connection can be asked again only if its answer ended where it should and said nothing of closing"
    )
    func reusable() throws {
        #expect(try refusal("HTTP/1.1 407 A\r\nContent-Length: 0\r\n\r\n").1)
        #expect(try refusal("HTTP/1.0 407 A\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n").1)
        #expect(try !refusal("HTTP/1.1 407 A\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").1)
        #expect(try !refusal("HTTP/1.1 407 A\r\nContent-Length: 0\r\nProxy-Connection: Close\r\n\r\n").1)
        #expect(try !refusal("HTTP/1.0 407 A\r\nContent-Length: 0\r\n\r\n").1)
        #expect(try !refusal("HTTP/1.1 407 A\r\nContent-Length: 1\r\n\r\nabHTTP/1.1 200 OK\r\n\r\n").1)
    }

    @Test("of a long refusal 4 KiB are kept, and no more than 64 read for the connection's sake")
    func long() throws {
        let small = String(repeating: "x", count: 60_000)
        let (kept, keptReusable) = try refusal("HTTP/1.1 403 F\r\nContent-Length: 60000\r\n\r\n\(small)", piece: 1000)
        #expect(kept.content.count == 4096 && keptReusable)
        let large = String(repeating: "x", count: 70_000)
        for framing in ["Content-Length: 99999999999", "A: b"] {
            let (cut, cutReusable) = try refusal("HTTP/1.1 403 F\r\n\(framing)\r\n\r\n\(large)", piece: 1000)
            #expect(cut.content.count == 4096 && !cutReusable)
        }
    }

    @Test("a refusal whose content breaks, or is cut short, is the refusal nevertheless")
    func cut() throws {
        let (broken, reusable) = try refusal("HTTP/1.1 403 F\r\nTransfer-Encoding: chunked\r\n\r\n1\r\naZ")
        #expect(broken.status == 403 && !reusable)
        var tunnel = ProxyTunnel(to: "a:443")
        _ = try tunnel.ask(authorization: nil)
        var offset = 0
        let head = Array("HTTP/1.1 503 S\r\n\r\nsorry".utf8)
        #expect(try tunnel.receive(head.span, from: &offset) == .needsInput)
        guard case .refused(let refusal, false) = try tunnel.ended(nil) else { throw Unexpected() }
        #expect(refusal.status == 503 && refusal.content == Array("sorry".utf8))
    }

    @Test("an end before the whole head, by FIN or reset, is the proxy's closing", .scenario(37))
    func closed() throws {
        let head = Array("HTTP/1.1 200 OK\r\nA: b\r\n".utf8)
        for end in 0...head.count {
            var tunnel = ProxyTunnel(to: "a:443")
            _ = try tunnel.ask(authorization: nil)
            var offset = 0
            let part = Array(head[..<end])
            #expect(try tunnel.receive(part.span, from: &offset) == .needsInput)
            #expect(throws: ProxyError.closed(nil)) { try tunnel.ended(nil) }
            #expect(throws: ProxyError.closed(.connectionReset)) { try tunnel.ended(.connectionReset) }
        }
    }

    @Test("heads without end, too many of them, and what is no HTTP are refused", .scenario(37))
    func limits() {
        let endless =
            "HTTP/1.1 200 OK\r\n" + String(repeating: "A: \(String(repeating: "b", count: 1000))\r\n", count: 66)
        expectMalformed(endless, .limitExceeded(.headBytes))
        let many = "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 257)
        expectMalformed(many, .limitExceeded(.fieldCount))
        let long = "HTTP/1.1 200 OK\r\nA: " + String(repeating: "b", count: 33_000)
        expectMalformed(long, .limitExceeded(.fieldLineBytes))
        let interim = String(repeating: "HTTP/1.1 100 C\r\n\r\n", count: 33)
        expectMalformed(interim, .limitExceeded(.informationalCount))
        expectMalformed("HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", .unexpectedUpgrade)
        #expect(throws: ProxyError.self) { try run("\u{5}\u{0}\u{0}\u{0}\u{0}\u{0}\r\n\r\n") }
    }

    private func expectMalformed(_ answer: String, _ kind: HTTP1Error.Kind) {
        for size in [Int.max, 1] {
            do throws(ProxyError) {
                Issue.record("\(try run(answer, piece: size).step)")
            } catch {
                guard case .malformedResponse(let cause) = error, cause.kind == kind else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }
}
