import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

/// volley as a worker of a real Locust master, the one on PyPI; `Tests/locust.py` drives it.
@Suite(.ownThread, .enabled(if: Python.isInstalled, Comment(rawValue: Python.reason)))
struct LocustWorkerTests {
    private func outcome(_ scenario: String, _ url: String) throws -> [String: Any] {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("locust.py").path
        let ended = try EndedProgram(Python.path ?? "", [script, scenario, EndedProgram.built("volley"), url])
        let found = try? JSONSerialization.jsonObject(with: Data(ended.out.utf8)) as? [String: Any]
        return try #require(found, "\(ended.out)\(ended.err)")
    }

    @Test("two workers ramp up, and the master's total is the server's, with times finer than a millisecond")
    func ramp() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("ramp", server.url("/bytes/128"))
        #expect(found["status"] as? Int == 0)
        #expect(found["workers"] as? [Int] == [0, 0])
        #expect(found["spawned"] as? Bool == true)
        #expect(found["errors"] as? [String] == [] && found["warnings"] as? [String] == [], "\(found)")
        #expect(found["failures"] as? Int == 0)
        #expect(found["names"] as? [String] == ["GET /bytes/128"])
        #expect(UInt64(found["requests"] as? Int ?? -1) == server.requestCount)
        // A busy machine may answer the median request after a whole millisecond, but not every request.
        #expect(found["fractions"] as? Bool == true)
    }

    @Test("a rate in the master's arguments is shared among the workers, and kept")
    func rate() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("rate", server.url("/bytes/128"))
        #expect(UInt64(found["requests"] as? Int ?? -1) == server.requestCount)
        #expect((600...1_200).contains(found["requests"] as? Int ?? 0), "\(found)")
        #expect(found["failures"] as? Int == 0)
    }

    @Test("a list's requests are sent in turn by all threads of a worker, however unequally fast they are answered")
    func inputs() throws {
        let (fast, slow) = (try TestServer.start(loops: 1), try TestServer.start(loops: 1))
        defer {
            fast.stop()
            slow.stop()
        }
        let found = try outcome("inputs", fast.url("/bytes/1") + "," + slow.url("/latency?ms=10"))
        #expect(found["requests"] as? Int == Int(fast.requestCount + slow.requestCount))
        #expect(slow.requestCount > 20 && fast.requestCount.distance(to: slow.requestCount).magnitude <= 1)
    }

    @Test("an error status is a failure in Locust and decides its verdict")
    func failing() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("failing", server.url("/status/503"))
        #expect(found["status"] as? Int == 1)
        #expect(found["failures"] as? Int == found["requests"] as? Int)
        #expect(found["workers"] as? [Int] == [5])
    }

    @Test("a test is stopped, and another started, each with its own total")
    func restart() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("restart", server.url("/bytes/128"))
        let totals = try #require(found["totals"] as? [Int])
        #expect(totals.count == 3)
        #expect(UInt64(totals.reduce(0, +)) == server.requestCount)
        #expect((found["said"] as? String)?.contains("0 errors") == true)
    }

    @Test("streams that do not end are stopped with the test, whatever the time limit")
    func streams() throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(head + "data: x\n\n"), .stall])
        defer { server.stop() }
        let found = try outcome("streams", server.url("/"))
        #expect(found["alive"] as? Bool == true, "\(found)")
        #expect(server.connections.count == 2)
    }

    @Test("a running test that gets more users than it began with has as many connections, with a rate and without")
    func growth() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("growth", server.url("/latency?ms=100"))
        #expect(found["connections"] as? [Int] == [2, 7, 2, 7], "\(found)")
        #expect(found["alive"] as? Bool == true)
    }

    @Test("a worker that is killed goes missing, and its users go to the other")
    func killed() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("killed", server.url("/bytes/128"))
        #expect(found["users"] as? [Int] == [4])
        #expect(found["alive"] as? Bool == true)
    }

    @Test("a master that comes back finds its worker again")
    func reconnect() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("reconnect", server.url("/bytes/128"))
        #expect(UInt64(found["total"] as? Int ?? -1) == server.requestCount)
        #expect((found["said"] as? String)?.contains("connecting again") == true)
    }

    @Test("with --orphan stop the load ends with its master, and the worker waits for another")
    func orphan() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("orphan", server.url("/bytes/128"))
        // Each look at the count is a request, and no other came between.
        #expect(found["asked"] as? Int == found["looks"] as? Int, "\(found)")
        #expect(found["alive"] as? Bool == true)
        let wrong = try EndedProgram(built: "volley", ["worker", "--master", "h", "--orphan", "x", server.url("/")])
        #expect(wrong.err.contains("use stop or run"))
    }

    @Test("a master that comes back without the test ends its load, and a test of another URL gets that URL")
    func comeback() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("comeback", server.url("/bytes/128"))
        #expect(found["names"] as? [String] == ["/bytes/1", "/bytes/2"], "\(found)")
        #expect(found["alive"] as? Bool == true)
    }

    @Test("the master's host is the last resort, and without it the master's page says what is missing")
    func host() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let found = try outcome("host", server.url("/bytes/128"))
        #expect((found["message"] as? String)?.contains("there is no URL to test") == true)
        #expect(server.requestCount > 0)
    }

    @Test("a missing master, or a peer that is not one, is reported, and the worker continues to look")
    func strangers() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let words = TemporaryFile()
        let ended = try ChildProcess(
            EndedProgram.built("volley"),
            ["worker", "--master", "127.0.0.1:\(server.port)", server.url("/")],
            error: words.path
        )
        ChildProcess.wait { words.text.contains("not a Locust master") }
        ended.signal(SIGINT)
        #expect(try ended.waitForEnd() == 130)
        #expect(words.text.contains("it does not speak ZeroMQ") || words.text.contains("the master has gone"))
        for line in [
            ["--master", "a b"], ["--master", "h:1/x"], [], ["--master", "h", "--handshake-only", "https://h/"],
        ] {
            let ended = try EndedProgram(built: "volley", ["worker"] + line)
            #expect(ended.status == 1, "\(line)")
            #expect(ended.err.filter(\.isNewline).count == 1)
        }
    }
}
