import TestSupport
import Testing
import UncurlReactor
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct OptionsTests {
    private let url = "http://127.0.0.1:8080/"

    @Test("without flags a run is wrk's: 10 connections, 2 threads, 10 s, timeout 2 s")
    func defaults() throws {
        let plain = try options(url)
        #expect(plain.connections == 10)
        #expect(plain.threads == 2)
        #expect(plain.duration == 10_000_000_000)
        #expect(plain.requests == nil)
        #expect(plain.timeout == 2_000_000_000)
        #expect(plain.warmup == 0)
        #expect(plain.pipeline == 1)
        #expect(plain.reuse == .keepAlive)
        #expect(plain.connectRate == nil)
        #expect(!plain.showsDistribution)
        let invocation = try invocation(url)
        #expect(invocation.showsProgress && !invocation.showsPlots)
        #expect(invocation.reports.map(\.format) == [.text])
        #expect(plain.request.method == "GET")
    }

    @Test(
        "wrk's flags have the same meaning as in wrk, joined or separate, short or long",
        arguments: [
            ["-t3", "-c1k", "-d2m", "-T500ms", "-L", "-H", "X-A: 1"],
            ["-t", "3", "-c", "1k", "-d", "2m", "-T", "500ms", "--latency", "-HX-A: 1"],
            [
                "--threads", "3", "--connections=1000", "--duration=120", "--timeout", "500ms", "--latency",
                "--header=X-A: 1",
            ],
        ]
    )
    func wrkFlags(line: [String]) throws {
        guard case .run(let command) = try Program.parse(line: line + [url]) else {
            Issue.record("not a run")
            return
        }
        let parsed = try LoadOptions(command)
        #expect(parsed.threads == 3)
        #expect(parsed.connections == 1_000)
        #expect(parsed.duration == 120_000_000_000)
        #expect(parsed.timeout == 500_000_000)
        #expect(parsed.showsDistribution)
        #expect(parsed.request.fields.last == .init(name: "X-A", value: "1"))
    }

    @Test("volley's own flags arrive in the options")
    func ownFlags() throws {
        let whole = try invocation(
            "-n",
            "5k",
            "--warmup",
            "3s",
            "--pipeline",
            "16",
            "--connect-rate",
            "2k/s",
            "--source-address",
            "127.0.0.0/30",
            "--connect-to",
            "::127.0.0.1:81",
            "--format",
            "json=/tmp/x",
            "--format",
            "wrk",
            "--no-progress",
            "-m",
            "PUT",
            "--body",
            "-hello",
            url
        )
        let parsed = whole.load
        #expect(parsed.requests == 5_000)
        #expect(parsed.duration == nil)
        #expect(parsed.warmup == 3_000_000_000)
        #expect(parsed.pipeline == 16)
        #expect(parsed.connectRate == 2_000)
        #expect(parsed.sources.count == 2)
        #expect(parsed.connectTo.count == 1)
        #expect(whole.reports.map(\.format) == [.json, .wrk])
        #expect(whole.reports.map(\.path) == ["/tmp/x", nil])
        #expect(whole.showsNotes && !whole.showsProgress)
        #expect(parsed.request.method == "PUT")
        #expect(parsed.request.body == Array("-hello".utf8))
    }

    @Test("--close is fin or rst, and --quiet silences more than --no-progress")
    func closeAndQuiet() throws {
        #expect(try options("--close", "fin", url).reuse == .fin)
        #expect(try options("--close=rst", url).reuse == .rst)
        #expect(try !invocation("-q", "--no-progress", url).showsNotes)
    }

    @Test("a unix socket is a path, or after @ an abstract name")
    func unixSockets() throws {
        #expect(try options("--unix-socket", "/run/x.sock", url).unixSocket?.description == "/run/x.sock")
        #expect(try options("--unix-socket", "@x", url).unixSocket?.description == "@x")
    }

    @Test("without a URL the embedded server is the target")
    func embedded() throws {
        #expect(try options().target == nil)
        #expect(try options("--source-address", "127.0.0.2").sources.count == 1)
        #expect(try options("--self").target == nil)
    }

    @Test("a gate without a URL is refused, unless --self says that volley's own server is meant")
    func gates() throws {
        for gate in [["--fail-if", "p99>1s"], ["--search-max", "p99<1s"]] {
            #expect(
                complaint(gate[0], gate[1])
                    == "\(gate[0]) has no URL to judge: add one, or --self for volley's own server"
            )
            #expect(complaint(gate[0], gate[1], url) == nil)
            #expect(try options(gate + ["--self"]).target == nil)
        }
        #expect(complaint("--self", url)?.hasPrefix("--self and a URL exclude each other") == true)
    }

    @Test("defaults give way to given values")
    func defaultsGiveWay() throws {
        #expect(try options("-c", "1", url).threads == 1)
        let single = try options("-n", "1", url)
        #expect((single.connections, single.threads) == (1, 1))
        #expect(try options("-n", "5", "-d", "1s", url).duration == 1_000_000_000)
    }

    @Test("a flag without effect is refused")
    func idle() throws {
        #expect(complaint("--live", "-q", url) == "--live and --quiet exclude each other: leave one out")
        #expect(
            complaint("--live", "--no-progress", url) == "--live and --no-progress exclude each other: leave one out"
        )
        #expect(complaint("--template", url)?.hasPrefix("--template finds no {{…}}") == true)
        #expect(complaint("--template", url + "{{counter}}") == nil)
        let log = TemporaryFile(
            Array(
                """
                1.1.1.1 - - [10/Oct/1970:13:55:36 +0200] "GET /a HTTP/1.1" 200 1
                1.1.1.1 - - [10/Oct/2026:13:55:36 +0200] "GET /b HTTP/1.1" 200 1

                """.utf8
            )
        )
        #expect(
            complaint("--input", "access-log=\(log.path)", "--replay", "1", url)?.contains("more than 744h") == true
        )
        #expect(complaint("--input", "access-log=\(log.path)", "--replay", "1000", url) == nil)
        #expect(complaint("--template", "--input", "access-log=\(log.path)", url)?.contains("finds no") == true)
    }

    @Test(
        "a worker refuses options for load and reports, which its master controls",
        arguments: [
            ["-c", "5"], ["-d", "5s"], ["-n", "5"], ["--rate", "5"], ["--stage", "1s@5"], ["--search-max", "p99<1s"],
            ["--think", "1s"], ["--drain", "1s"], ["--warmup", "1s"], ["--shard", "0/2"], ["--start-at", "1"],
            ["--format", "json"], ["-o", "x.json"], ["--live"], ["--latency"], ["--interval", "2s"],
            ["--prometheus", "0"],
            ["--fail-if", "p99>1s"], ["--repeat", "2"],
        ]
    )
    func worker(line: [String]) throws {
        guard case .command(let perform) = try Program.parse(line: ["worker", "--master", "127.0.0.1:1"] + line)
        else {
            Issue.record("no command")
            return
        }
        #expect { try perform() } throws: { "\($0)".contains("is not for a worker") }
    }

    @Test(
        "an argument that cannot be used is refused in one line that says what would be right",
        arguments: [
            (["-c", "x"], "-c \"x\" is not a number: use a whole number such as 64, 1.5k or 1M"),
            (["-c2M"], "-c \"2M\" is too many: at most 1000000"),
            (["-t", "0"], "-t must be more than 0"),
            (["-t", "2k", "-c", "4k"], "-t \"2k\" is too many: at most 1024"),
            (["-t3", "-c2"], "-c 2 is less than -t 3: each thread needs a connection, use -t 2"),
            (["-n5", "-c6"], "-n 5 is less than -c 6: each connection sends at least one, use -c 5"),
            (["-d", "x"], "-d \"x\" is not a time: use such as 500ms, 0.2s, 10s or 1h30m"),
            (["-T0"], "--timeout must be more than 0"),
            (["--warmup", "1d"], "--warmup \"1d\" has an unknown unit \"d\": use us, ms, s, m or h"),
            (["--pipeline", "1025"], "--pipeline \"1025\" is too many: at most 1024"),
            (["--connect-rate", "5/m"], "--connect-rate \"5/m\" has an unknown unit \"/m\": use k, M or G"),
            (["--connect-rate", "2G/s"], "--connect-rate \"2G/s\" is too high: at most 1G/s"),
            (["--close", "server"], "--close \"server\" is unknown: use fin or rst"),
            (
                ["--close", "fin", "--pipeline", "2"],
                "--close and --pipeline 2 exclude each other: a pipeline needs a kept connection"
            ),
            (
                ["--pipeline", "2", "-m", "POST"],
                "--pipeline 2 with POST: only idempotent methods may be pipelined, use GET or PUT"
            ),
            (
                ["--format", "xml"],
                "--format \"xml\" is unknown: use text, json, wrk, html, hgrm, markdown, junit, github, csv, requests, hlog, each also as FORMAT=FILE"
            ),
            (["--format", "json="], "--format \"json=\" names no file: use json=FILE"),
            (
                ["--format", "json", "--format", "text"],
                "--format goes to standard output more than once: give all but one a file, such as json=out.json"
            ),
            (
                ["--format", "json=a", "--format", "text=a"],
                "--format writes one file twice: give each report a file of its own"
            ),
            (
                ["--body", "x", "--body-file", "y"],
                "--body and --body-file exclude each other: a request has one content"
            ),
            (
                ["--body-file", "/nowhere/body"],
                "--body-file \"/nowhere/body\" cannot be read: No such file or directory (ENOENT): name a readable file"
            ),
            (["--body-file", "/"], "--body-file \"/\" cannot be read: Is a directory (EISDIR): name a readable file"),
            (
                ["--unix-socket", ""],
                "--unix-socket \"\" is no socket name: use a path, or @NAME for an abstract one, of at most 107 bytes"
            ),
            (
                ["--unix-socket", "@"],
                "--unix-socket \"@\" is no socket name: use a path, or @NAME for an abstract one, of at most 107 bytes"
            ),
            (
                ["--unix-socket", "/s", "--connect-to", ":::"],
                "--unix-socket and --connect-to exclude each other: use one of them"
            ),
            (
                ["--unix-socket", "/s", "--source-address", "127.0.0.1"],
                "--unix-socket has no source address: leave --source-address out"
            ),
            (
                ["--source-address", "::1"],
                "--source-address cannot be of another family than the target: use IPv4 addresses"
            ),
            (["-H", "nothing"], "-H \"nothing\" has no colon: write 'Name: value'"),
            (["-m", "GE T"], "--method \"GE T\" is not a method: use a token such as GET or POST"),
            (["--bogus"], "Unknown option '--bogus' (see volley --help)"),
            (["-c"], "-c \"http://127.0.0.1:8080/\" is not a number: use a whole number such as 64, 1.5k or 1M"),
            (["one"], "Unexpected argument 'http://127.0.0.1:8080/' (see volley --help)"),
        ]
    )
    func refused(line: [String], message: String) {
        var got: String?
        do {
            _ = try invocation(line + [url])
        } catch {
            got = "\(error)"
        }
        if line == ["--bogus"] {
            #expect(got?.hasPrefix("Unknown option '--bogus'") == true)
        } else {
            #expect(got == message)
        }
        #expect(got?.contains("\n") == false)
    }

    @Test("flags that need a URL say so without one")
    func needsURL() {
        #expect(
            complaint("--unix-socket", "/s")
                == "--unix-socket needs a URL, for its path and Host field: add one such as http://localhost/"
        )
        #expect(
            complaint("--connect-to", ":::")
                == "--connect-to needs a URL to lead elsewhere: add one such as http://example.com/"
        )
        #expect(complaint("-t") == "Missing value for '-t' (see volley --help)")
    }

    @Test(
        "help, version and schema are information, not errors",
        arguments: ["--help", "--help-all", "--version", "--schema"]
    )
    func information(flag: String) throws {
        guard case .information(let text) = try Program.parse(line: [flag]) else {
            Issue.record("\(flag) is not information")
            return
        }
        #expect(!text.isEmpty)
    }
}
