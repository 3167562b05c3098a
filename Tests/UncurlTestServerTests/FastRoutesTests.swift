import Testing
import UncurlHTTP1
import UncurlReactor

@testable import UncurlTestServer

@Suite struct FastRoutesTests {
    private func answer(_ method: String, _ target: String) throws -> [UInt8]? {
        var routes = FastRoutes()
        var fields = HTTPFields()
        try fields.append("Host", "a")
        let head = try RequestHead(method: method, target: target, fields: fields)
        var output: [UInt8] = []
        return routes.answer(head, Instant(nanoseconds: 0), to: &output) ? output : nil
    }

    @Test(
        "the fast answer equals the route's answer",
        arguments: ["/", "/bytes/0", "/bytes/1", "/bytes/16384"]
    )
    func sameAsRoutes(target: String) throws {
        // HTTP/1.0 with keep-alive takes the other way; its Connection field is the one difference.
        let slow = MachineHarness()
        slow.play("GET \(target) HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        let fast = try #require(try answer("GET", target))
        let lines = { (octets: [UInt8]) in
            undated(octets).split(separator: "\r\n", maxSplits: 6, omittingEmptySubsequences: false)
                .filter { $0 != "Connection: keep-alive" }
        }
        let body = { (octets: [UInt8]) in
            let end = (3..<octets.count).first { octets[($0 - 3)...$0].elementsEqual([13, 10, 13, 10]) }
            return end.map { Array(octets[($0 + 1)...]) }
        }
        #expect(body(fast) != nil)
        #expect(body(fast) == body(slow.sent))
        #expect(lines(fast).prefix(5) == lines(slow.sent).prefix(5))
    }

    @Test(
        "other requests are left to the routes",
        arguments: [
            ("HEAD", "/"), ("POST", "/"), ("GET", "/x"), ("GET", "/?"), ("GET", "/bytes/"), ("GET", "/bytes/16385"),
            ("GET", "/bytes/1a"), ("GET", "/bytes/1?seed=2"), ("GET", "/bytes/000000001"), ("GET", "/bytez/1"),
            ("get", "/"),
        ]
    )
    func others(method: String, target: String) throws {
        #expect(try answer(method, target) == nil)
    }

    @Test("Date is made once per second")
    func date() throws {
        var routes = FastRoutes()
        let first = routes.date(Instant(nanoseconds: 0))
        #expect(routes.date(Instant(nanoseconds: 1)) == first)
        let later = routes.date(Instant(nanoseconds: 2_000_000_000))
        #expect(later.utf8.count == 29 && later.hasSuffix(" GMT"))
        var output: [UInt8] = []
        let text = Array(first.utf8)
        let seconds = HTTPDate.parse(text.span, now: 0)
        HTTPDate.append(try #require(seconds), to: &output)
        #expect(output == text)
    }
}
