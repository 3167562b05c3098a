import Foundation
import TestSupport
import Testing
import UncurlLoad
import UncurlLoadReports
import UncurlTestServer

/// The library, used as a program uses it: no `@testable`.
@Suite("Load tests from Swift", .ownThread, .serialized)
struct LoadTestTests {
    @Test("a closed loop by count is counted as the server counts it")
    func closed() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = LoadTest(url: server.url("/bytes/10"))
        (test.connections, test.threads, test.requests, test.duration) = (4, 2, 100, nil)
        test.timeout = .seconds(60)
        let report = try test.run()
        #expect(report.exitStatus == 0, "\(report.text)")
        #expect(report.sent == 100 && report.completed == 100 && report.statuses == [200: 100])
        #expect(server.requestCount == 100)
        #expect(report.corrected == nil && report.raw?.count == 100)
        #expect(try #require(report.raw).percentile(50) <= #require(report.raw).maximum)
        #expect(report.json.contains("\"mode\": \"closed-loop\""))
    }

    @Test("a rate and stages send what their integral says")
    func scheduled() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = LoadTest(url: server.url("/bytes/10"))
        (test.connections, test.rate, test.duration, test.drain) = (20, 200, .milliseconds(500), .seconds(60))
        #expect(try test.run().completed == 100)
        test.rate = nil
        test.stages = [
            LoadTest.Stage(.milliseconds(300), rate: 100), LoadTest.Stage(.milliseconds(200), rate: 300, isRamp: true),
        ]
        let report = try test.run()
        #expect(report.completed == 70)
        #expect(report.corrected?.count == 70 && report.sendLag?.count == 70 && report.unsent == 0)
    }

    @Test("with a rate, threads without a request end at once, after a warm-up too", arguments: [0, 50])
    func fewRequests(warmup: Int) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = LoadTest(url: server.url("/bytes/10"))
        (test.connections, test.threads, test.requests, test.duration) = (4, 4, 3, nil)
        (test.rate, test.warmup, test.timeout) = (50, .milliseconds(warmup), .seconds(60))
        // A request of the warm-up may end in the measured part, but none was due in it.
        #expect(try test.run().corrected?.count == 3)
    }

    @Test("a visit decides by the response, with pauses, cookies and a number of its own")
    func visit() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = LoadTest(url: server.url("/"))
        (test.connections, test.threads, test.keepsCookies, test.redirects) = (3, 2, true, 1)
        // Three requests a visit, and the redirection of one of them: two visits.
        (test.requests, test.duration, test.timeout) = (6, nil, .seconds(60))
        let seen = Seen()
        test.visit = { user in
            _ = try await user.send(LoadRequest("GET", "/cookies/set?me=\(user.number)"))
            try await user.pause(.milliseconds(5))
            let cookies = try await user.send(LoadRequest("GET", "/cookies"))
            seen.add(String(decoding: cookies.body, as: UTF8.self).contains("\"\(user.number)\""))
            let request = LoadRequest("POST", "/anything", headers: [("X-A", "b")], body: Array("hi".utf8))
            let last = try await user.send(request)
            seen.add(last.status == 200 && last.header("content-type") == "application/json")
        }
        let report = try test.run()
        #expect(report.failed == 0 && report.httpErrors == 0, "\(report.text)")
        #expect(server.requestCount == report.sent)
        #expect(report.sent == 6 + report.redirects)
        #expect(seen.all.allSatisfy { $0 })
    }

    @Test("a request prints in one line, without secrets")
    func printed() {
        let request = LoadRequest("GET", "https://user:hidden@h.example/a?key=hidden", headers: [("Cookie", "hidden")])
        #expect("\(request)" == "LoadRequest(GET https://h.example/a)")
        #expect("\(LoadRequest("GET", "/a@b#hidden"))" == "LoadRequest(GET /a@b)")
    }

    @Test("with a rate, each visit is due, and its requests follow one another")
    func visits() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = LoadTest(url: server.url("/"))
        (test.connections, test.rate, test.duration, test.drain) = (50, 100, .milliseconds(500), .seconds(60))
        test.visit = { user in for step in 0..<3 { _ = try await user.get("/bytes/\(step)") } }
        let report = try test.run()
        #expect(report.corrected?.count == 50)
        // A visit that the end of the run cuts short sends no more.
        #expect((50...150).contains(report.completed) && report.completed == server.requestCount)
    }

    @Test("a visit's mistakes are failures, and a visit that wants nothing does no harm")
    func badVisits() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = LoadTest(url: server.url("/"))
        (test.connections, test.duration, test.timeout) = (2, .milliseconds(200), .seconds(60))
        test.visit = { user in _ = try await user.get("no scheme") }
        let report = try test.run()
        #expect(report.sent == 0 && report.connectionsFailed > 0 && report.exitStatus == 4)
        test.visit = { _ in }
        #expect(try test.run().sent == 0)
        #expect(server.requestCount == 0)
    }

    @Test("what cannot be run says why")
    func refused() {
        var test = LoadTest(url: "ftp://x/")
        #expect(throws: LoadTestError.self) { try test.run() }
        test = LoadTest()
        (test.connections, test.threads) = (1, 2)
        #expect(throws: LoadTestError.self) { try test.run() }
        test = LoadTest()
        (test.rate, test.think) = (5, .seconds(1))
        #expect(throws: LoadTestError.self) { try test.run() }
        test = LoadTest()
        test.duration = nil
        #expect(throws: LoadTestError.self) { try test.run() }
        test = LoadTest()
        test.stages = Array(repeating: LoadTest.Stage(.seconds(744 * 3_600), rate: 1), count: 7_000)
        #expect(throws: LoadTestError.time(.stages)) { try test.run() }
    }

    @Test("the example runs, against the server it is given")
    func example() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try EndedProgram(built: "LoadScenario", [server.url("/"), "10"])
        #expect(ended.status == 0, "\(ended.err)")
        #expect(ended.out.contains("open loop: 10/s"))
        // Fifty visits: five requests and a redirection each, fewer where the end came in between.
        #expect((200...300).contains(server.requestCount), "\(ended.out)")
    }
}

/// What visits on several threads saw.
private final class Seen: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Bool] = []

    func add(_ value: Bool) { lock.withLock { values.append(value) } }
    var all: [Bool] { lock.withLock { values } }
}
