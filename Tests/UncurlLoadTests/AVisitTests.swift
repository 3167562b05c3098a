import TestSupport
import Testing
import UncurlEngine
import UncurlReactor
import UncurlTestServer

@testable import UncurlLoad

@Suite("Visits of a program", .ownThread, .serialized)
struct AVisitTests {
    private func test(_ server: TestServer, requests: UInt64) -> LoadTest {
        var test = LoadTest(url: server.url("/"))
        (test.connections, test.threads, test.requests, test.duration) = (4, 2, requests, nil)
        test.timeout = .seconds(60)
        return test
    }

    @Test("requests of a visit follow each other, and each response is the visit's own")
    func follow() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = test(server, requests: 120)
        test.names = ["first", "second"]
        let wrong = Monitor(0)
        test.visit = { user in
            let first = try await user.send(LoadRequest("GET", "/anything?user=\(user.number)", name: "first"))
            let number = first.json("/args/user")
            if number != "\(user.number)" || first.status != 200 { wrong.update { $0 += 1 } }
            try await user.pause(.milliseconds(1))
            let second = try await user.send(LoadRequest("POST", "/anything", body: Array("x".utf8), name: "second"))
            if second.json("/data") != "x" || second.json("/none") != nil { wrong.update { $0 += 1 } }
        }
        let report = try test.run()
        #expect(report.completed == 120 && report.exitStatus == 0)
        #expect(server.requestCount == 120)
        #expect(report.names.map(\.name) == ["first", "second"])
        // The last visits may have been cut short.
        let counts = report.names.map(\.completed)
        #expect(counts[0] + counts[1] == 120 && counts[1] <= counts[0] && counts[0] <= counts[1] + 4, "\(counts)")
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test("by a rate each visit is due at its instant, and all of them are accounted for")
    func rate() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = test(server, requests: 50)
        (test.rate, test.drain) = (200, .seconds(60))
        test.visit = { user in
            _ = try await user.get("/bytes/1")
            _ = try await user.get("/bytes/2")
        }
        let report = try test.run()
        #expect(report.completed + report.unsent <= 100 && report.completed >= 50, "\(report.completed)")
        #expect(report.corrected?.count == 50)
        #expect(server.requestCount == report.sent)
    }

    @Test("what came due is sent while the run drains: by a visit that decides, and by one that pauses first")
    func drained() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var test = test(server, requests: 0)
        (test.connections, test.threads, test.requests, test.duration) = (1, 1, nil, .milliseconds(100))
        (test.rate, test.drain) = (200, .seconds(60))
        test.visit = { user in _ = try await user.get("/latency?ms=10") }
        #expect(try test.run().completed == 20)
        #expect(server.requestCount == 20)
        test.rate = 10
        test.visit = { user in
            try await user.pause(.milliseconds(300))
            _ = try await user.get("/bytes/1")
        }
        #expect(try test.run().completed == 1)
    }

    @Test("a visit that fails ends, one that sends nothing holds nothing up, and the run's end ends all")
    func ends() throws {
        struct Wrong: Error {}
        let server = try TestServer.start()
        defer { server.stop() }
        var test = test(server, requests: 40)
        let (unusable, cancelled) = (Monitor(0), Monitor(0))
        test.visit = { user in
            if user.number == 0 { return }
            do {
                if user.number == 1 { _ = try await user.send(LoadRequest("A B", "/")) }
            } catch is LoadTestError {
                unusable.update { $0 += 1 }
            }
            do {
                _ = try await user.get("/bytes/1")
                throw Wrong()
            } catch is CancellationError {
                cancelled.update { $0 += 1 }
            }
        }
        let report = try test.run()
        #expect(report.completed == 40)
        #expect(unusable.withLock { $0 } > 0)
    }
}
