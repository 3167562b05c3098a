import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Checks that volley measures honestly, in short forms with wide margins for a busy machine. `tools/honesty` runs the
/// full ones.
@Suite("Honesty", .ownThread, .serialized)
struct HonestyTests {
    private func file(_ text: String) -> TemporaryFile { TemporaryFile(Array(text.utf8)) }

    private func histogram(_ ended: EndedProgram, _ section: String, _ name: String) throws -> [String: Any] {
        let part = try #require(ended.report[section] as? [String: Any], "\(ended.err)\(ended.out)")
        return try #require(part[name] as? [String: Any])
    }

    private func seconds(_ histogram: [String: Any], _ percentile: String) throws -> Double {
        let value = histogram[percentile] ?? (histogram["percentiles"] as? [String: Any])?[percentile]
        return Double(try #require(value as? Int)) / 1e9
    }

    /// Whether the machine is calm: nine of ten answers after 10 ms come within 2 ms of that. The test itself measures
    /// them over plain sockets, because volley's figures are what it judges. Noise only adds, so an excess counts only
    /// on a calm machine.
    private func isCalm() throws -> Bool {
        let server = try TestServer.start()
        defer { server.stop() }
        let request = Array("GET /latency?ms=10 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8)
        let times = try (0..<40).map { _ in
            let begun = ContinuousClock.now
            let answer = try exchange(request, port: server.port)
            let time = ContinuousClock.now - begun
            #expect(answer.starts(with: Array("HTTP/1.1 200".utf8)) && time >= .milliseconds(10))
            return time
        }
        return times.sorted()[35] < .milliseconds(12)
    }

    /// Sends a request over a connection of its own, and returns everything that comes.
    private func exchange(_ request: [UInt8], port: UInt16) throws -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0 && send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
        var (answer, part): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 4096))
        while true {
            let count = recv(descriptor, &part, part.count, 0)
            try #require(count >= 0)
            if count == 0 { return answer }
            answer += part.prefix(count)
        }
    }

    /// The result of a run with a stall, and whether the machine was calm before and after it. Half of the run's
    /// requests do not touch the stall.
    private struct Stall {
        var p99, p90, p50, most, rawP99: Double
        var isCalm: Bool
    }

    /// Two seconds at 250/s with a stall of 400 ms in the middle. It is repeated up to twice if the machine was not
    /// calm, or stood still itself during one of the compared runs.
    private func frozen(_ connections: Int, isFine: (Stall) -> Bool = { $0.p99 < 0.6 }) throws -> Stall {
        var stall = try frozenOnce(connections)
        for _ in 0..<2 where !stall.isCalm || !isFine(stall) { stall = try frozenOnce(connections) }
        return stall
    }

    private func frozenOnce(_ connections: Int) throws -> Stall {
        let wasCalm = try isCalm()
        let server = try TestServer.start()
        defer { server.stop() }
        let list = file("/bytes/10 x250\n/freeze?ms=400\n/bytes/10 x249\n")
        let ended = try volley(
            ["--format", "json", "-R", "250", "-d", "2s", "-t", "1", "-c", "\(connections)", "--drain", "60s"]
                + ["--input", "urls=\(list.path)", server.url("/")]
        )
        #expect([0, 3].contains(ended.status), "\(ended.err)\(ended.out)")
        #expect(server.requestCount == 500)
        #expect(ended.number("requests", "completed") == 500)
        let corrected = try histogram(ended, "schedule", "corrected")
        return Stall(
            p99: try seconds(corrected, "99"),
            p90: try seconds(corrected, "90"),
            p50: try seconds(corrected, "50"),
            most: try seconds(corrected, "max"),
            rawP99: try seconds(try histogram(ended, "latency", "raw"), "99"),
            isCalm: try wasCalm && isCalm()
        )
    }

    @Test("a stall shows in the corrected latency as long as it was, by p = S − (1−q)·T, and nearly not in the raw")
    func stall() throws {
        let stall = try frozen(1)
        // S − (1 − q) · T with S = 0.4 s and T = 2 s: 0.38 at p99, 0.2 at p90.
        #expect(stall.p99 >= 0.37 && stall.p90 >= 0.19 && stall.most >= 0.399, "\(stall)")
        guard stall.isCalm else { return }
        #expect(stall.p99 < 0.6 && stall.p90 < 0.4 && stall.p50 < 0.05, "\(stall)")
        #expect(stall.rawP99 < stall.p99 / 2, "\(stall)")
    }

    @Test("the corrected latency of a stall does not depend on the number of connections")
    func stallByConnections() throws {
        let one = try frozen(1)
        guard one.isCalm else { return }
        let many = try frozen(64) { abs(one.p99 - $0.p99) < 0.3 * max(one.p99, $0.p99) }
        #expect(many.p99 >= 0.37, "\(many)")
        guard many.isCalm else { return }
        #expect(abs(one.p99 - many.p99) < 0.3 * max(one.p99, many.p99), "\(one) \(many)")
    }

    @Test("a server that never answers makes N timeouts and a failed run, which ends after duration and timeout")
    func neverAnswering() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley(["--format", "json", "-d", "1s", "-T", "300ms", "-c", "4", server.url("/never")])
        #expect(ended.status == 4)
        let failed = ended.number("requests", "failed") ?? 0
        #expect(failed >= 4)
        let error = try #require((ended.report["errors"] as? [[String: Any]])?.first)
        #expect(error["class"] as? String == "timeout" && error["count"] as? Int == failed)
        #expect(try seconds(try histogram(ended, "latency", "failed"), "min") >= 0.299)
        #expect((ended.number("run", "measured_ns") ?? .max) < 10_000_000_000)
    }

    @Test("a load tester that was stopped for 400 ms reports it, and its latency includes them")
    func starved() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let line = [
            "--format", "json", "-R", "200", "-d", "2s", "-t", "1", "-c", "4", "--drain", "60s",
            server.url("/bytes/10"),
        ]
        let out = TemporaryFile()
        let process = try ChildProcess(
            EndedProgram.built("volley"),
            line,
            input: .nothing,
            output: out.path,
            error: "/dev/null"
        )
        let limit = ContinuousClock.now + .seconds(60)
        while server.requestCount < 100, ContinuousClock.now < limit { sched_yield() }
        process.signal(SIGSTOP)
        // The passing time is what this tests.
        let resume = ContinuousClock.now + .milliseconds(400)
        while ContinuousClock.now < resume { sched_yield() }
        process.signal(SIGCONT)
        #expect(try process.waitForEnd() == 3)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(out.text.utf8)) as? [String: Any])
        let schedule = try #require(report["schedule"] as? [String: Any])
        for name in ["lag", "corrected"] {
            let values = try #require(schedule[name] as? [String: Any])
            #expect(try seconds(values, "max") >= 0.35, "\(name)")
        }
        #expect((schedule["generator_limits"] as? [String])?.isEmpty == false)
    }

    @Test("the measured time is never less than a known service time")
    func serviceTime() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let wasCalm = try isCalm()
        let fixed = ["--format", "json", "-c", "1", "-t", "1", "-n", "60", server.url("/latency?ms=10")]
        let latency = try histogram(volley(fixed), "latency", "raw")
        let spread = try volley(
            ["--format", "json", "-c", "40", "-t", "1", "-n", "1200", server.url("/latency?from=1&to=100")]
        )
        let values = try histogram(spread, "latency", "raw")
        #expect(try seconds(latency, "min") >= 0.00999, "\(latency)")
        #expect(try seconds(values, "90") >= 0.08 && seconds(values, "50") >= 0.04, "\(values)")
        guard try wasCalm && isCalm() else { return }
        #expect(try seconds(latency, "75") < 0.02, "\(latency)")
        #expect(try seconds(values, "90") < 0.12 && seconds(values, "50") < 0.08, "\(values)")
    }

    @Test(
        "no request takes no time, whatever timers run out meanwhile",
        arguments: [[], ["--think", "1us"], ["-R", "2k", "--max-lag", "60s"]]
    )
    func noInstantAnswers(pace: [String]) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let line = ["--format", "json", "-c", "10", "-t", "1", "-n", "4000"]
        let ended = try volley(line + pace + [server.url("/bytes/10")])
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        for name in ["raw", "first_byte"] {
            #expect(try seconds(try histogram(ended, "latency", name), "min") >= 0.000_001, "\(name)")
        }
    }

    @Test(
        "the number of due requests is exactly rate times time",
        arguments: [("10", 10), ("1000", 1_000), ("5k", 5_000)]
    )
    func rates(rate: String, count: Int) throws {
        let ended = try volley(["--format", "json", "-R", rate, "-d", "1s", "-t", "2", "--drain", "60s"])
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        #expect(ended.number("requests", "completed") == count)
    }

    /// An answer with everything that may come before, in and after a body.
    private static let elaborate =
        "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "4;x=y\r\nWiki\r\n5\r\npedia\r\n0\r\nTrailer: t\r\n\r\n"

    @Test("an answer split at any byte, with hints, chunks and trailers, counts once", arguments: [1, 2, 3, 7, 20])
    func split(size: Int) throws {
        let answer = Array(Self.elaborate.utf8)
        let server = try RawServer.start(otherwise: [.pieces(of: size), .receive(.headEnd), .send(answer), .startOver])
        defer { server.stop() }
        let ended = try volley(["--format", "json", "-n", "30", "-c", "3", "http://127.0.0.1:\(server.port)/"])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == 30)
        #expect(ended.number("statuses", "200") == 30)
        #expect(ended.number("bytes", "in_content") == 270)
        #expect(ended.number("bytes", "in") == 30 * answer.count)
    }

    @Test(
        "an answer without a body has none, whatever its length field says, and answers in one segment are separated",
        arguments: [
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 1), ("GET", "HTTP/1.1 204 No\r\n\r\n", 1),
            ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 1),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 4),
        ]
    )
    func bodiless(method: String, answer: String, pipeline: Int) throws {
        let all = Array(String(repeating: answer, count: pipeline).utf8)
        let heads = [RawStep](repeating: .receive(.headEnd), count: pipeline)
        let server = try RawServer.start(otherwise: RawScript(heads + [.send(all), .startOver]))
        defer { server.stop() }
        let line = ["-m", method, "-n", "24", "-c", "2", "--pipeline", "\(pipeline)"]
        let ended = try volley(["--format", "json"] + line + ["http://127.0.0.1:\(server.port)/"])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == 24)
        #expect(ended.number("bytes", "in_content") == (pipeline == 4 ? 48 : 0))
        #expect(ended.number("connections", "opened") == 2)
    }
}
