import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

@Suite(.ownThread)
struct ConnectionLimitsTests {
    private let url = "http://127.0.0.1:8080/"

    @Test("each part of a request has its own limit, below that of the whole request")
    func parsed() throws {
        let parsed = try options(
            "-T",
            "5s",
            "--connect-timeout",
            "1s",
            "--first-byte-timeout",
            "2s",
            "--idle-timeout",
            "500ms",
            "--requests-per-connection",
            "100",
            "--close",
            "rst",
            url
        )
        #expect(parsed.limits.connect == 1_000_000_000 && parsed.limits.responseStart == 2_000_000_000)
        #expect(parsed.limits.idle == 500_000_000 && parsed.limits.requests == 100 && parsed.limits.resets)
        #expect(parsed.reuse == .keepAlive)
        #expect(try options("--requests-per-connection", "1", url).reuse == .fin)
        #expect(try options("--requests-per-connection", "1", "--close", "rst", url).reuse == .rst)
        let plan = try plan("--requests-per-connection", "7", "--idle-timeout", "1s", url)
        #expect(plan.options.limits.requests == 7 && plan.options.limits.description == "idle 1 s")
        #expect(try options("--connection-age", "20s-40s", url).limits.description == "age 20 s to 40 s")
        #expect(try options("--connection-age", "20s", url).limits.description == "age 20 s")
    }

    @Test("flags about kept connections are refused where none is kept, and so are two limits of one way")
    func refused() {
        let words = " is about kept connections, and each request has one of its own: leave it out"
        for flags in [["--connection-age", "1s"], ["--retry"]] {
            for close in [["--close", "fin"], ["--close", "rst"], ["--requests-per-connection", "1"]] {
                #expect(throws: UsageError(flags[0] + words)) { try invocation(flags + close + [url]) }
            }
            #expect(throws: Never.self) { try invocation(flags + ["--requests-per-connection", "2", url]) }
        }
        #expect(
            complaint("--limit-rate", "1k", "--limit-rate", "up:2k", url)
                == "--limit-rate \"up:2k\" limits a way that another limits too: give each way one"
        )
        #expect(complaint("--limit-rate", "down:1k", "--limit-rate", "up:2k", url) == nil)
    }

    @Test(
        "a limit that cannot be reached, or that has no effect, is refused",
        arguments: [
            (["--connect-timeout", "2s"], "--connect-timeout \"2s\" is not below --timeout"),
            (["--first-byte-timeout", "0"], "--first-byte-timeout must be more than 0"),
            (["--idle-timeout", "x"], "--idle-timeout \"x\" is not a time"),
            (["--requests-per-connection", "0"], "--requests-per-connection must be more than 0"),
            (["--idle-timeout", "1s", "--pipeline", "2"], "--idle-timeout is about one request at a time"),
            (["--requests-per-connection", "9", "--pipeline", "2"], "--requests-per-connection is about one request"),
            (
                ["--requests-per-connection", "9", "--connect-rate", "5"],
                "--connect-rate and --requests-per-connection"
            ),
            (["--first-byte-timeout", "1s", "--handshake-only"], "--first-byte-timeout is about requests"),
        ] as [([String], String)]
    )
    func refused(line: [String], words: String) {
        do {
            guard case .run(let command) = try Program.parse(line: line + ["https://127.0.0.1:8080/"]) else {
                return
            }
            _ = try LoadOptions(command)
            Issue.record("accepted")
        } catch { #expect("\(error)".hasPrefix(words), "\(error)") }
    }

    @Test(
        "a connection is replaced after its number of requests, with any source of requests",
        arguments: [[], ["--cookies"]]
    )
    func reuse(line: [String]) throws {
        let ended = try volley(
            ["-n", "20", "-c", "1", "--requests-per-connection", "5", "--format", "json"] + line
        )
        #expect(ended.status == 0, "\(ended.err)")
        #expect(ended.number("requests", "completed") == 20)
        #expect(ended.number("connections", "opened") == 4)
        #expect(ended.number("run", "requests_per_connection") == 5)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test(
        "a limit that runs out is reported with its phase, long before the time of the whole request",
        arguments: [
            (RawScript.silent, "http", "--first-byte-timeout", Phase.responseStart),
            (
                [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")], "http", "--idle-timeout",
                .body
            ),
            (.silent, "https", "--connect-timeout", .tls),
        ] as [(RawScript, String, String, Phase)]
    )
    func runsOut(script: RawScript, scheme: String, flag: String, phase: Phase) throws {
        let server = try RawServer.start(otherwise: script)
        defer { server.stop() }
        let url = server.url("/").replacing("http:", with: scheme + ":")
        let ended = try volley(["-n", "2", "-c", "1", "-T", "60s", flag, "200ms", "--format", "json", url])
        #expect(ended.status == 4, "\(ended.err)")
        let error = (ended.report["errors"] as? [[String: Any]])?.first
        #expect(error?["class"] as? String == "timeout" && error?["phase"] as? String == phase.rawValue, "\(ended.out)")
        #expect(ended.number("run", "measured_ns") ?? .max < 30_000_000_000)
    }
}
