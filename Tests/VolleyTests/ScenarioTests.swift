import Foundation
import LoadTestSupport
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Visits that a file describes.
@Suite("Scenarios from files", .ownThread, .serialized)
struct ScenarioTests {
    private func file(_ text: String) -> TemporaryFile { TemporaryFile(Array(text.utf8)) }

    private func answer(_ content: String, _ fields: String = "") -> RawStep {
        .send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(content.utf8.count)\r\n\r\n\(content)")
    }

    @Test("a field's value that is no UTF-8 goes back to the server octet by octet")
    func octets() throws {
        let scenario = file(
            #"{"steps": [{"url": "/a", "extract": {"t": {"field": "X-T"}}}, {"url": "/b?{{t}}", "fields": {"X-T": "{{t}}"}}]}"#
        )
        let head: [UInt8] =
            Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-T: caf".utf8) + [0xE9] + Array("\r\n\r\n".utf8)
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send(head), .receive(.headEnd),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ]
        ])
        defer { server.stop() }
        let ended = try volley(["--scenario", scenario.path, "-n", "2", "-c", "1", server.url("/")])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        let received = server.received(0)
        #expect(received.firstRange(of: Array("X-T: caf".utf8) + [0xE9, 0x0D]) != nil)
        #expect(received.firstRange(of: Array("GET /b?caf%E9 ".utf8)) != nil)
    }

    @Test("each request of a visit is sent as the file says, with what the answers before it gave")
    func exact() throws {
        let data = file("name,city\nAnn,\"New \"\"York\"\"\"\nBob,Rome\n")
        let scenario = file(
            """
            {
              "variables": {"shop": "s&1"}, "fields": {"X-Shop": "{{shop}}"},
              "data": {"users": {"file": "\(data.path)"}},
              "steps": [
                {"name": "login", "url": "/login?shop={{shop}}", "method": "POST",
                 "json": {"user": "{{users.name}}", "city": "{{users.city}}", "n": 1},
                 "extract": {
                   "token": {"json": "/a/0/t"}, "id": {"field": "X-Id"}, "sid": {"cookie": "sid"},
                   "csrf": {"pattern": "csrf=(\\\\w+)"}, "more": {"json": "/none", "default": "x"}
                 }},
                {"loop": 2, "steps": [{"name": "item", "url": "/item/{{id}}/{{sid}}", "fields": {"T": "{{token}} {{more}}"}}]},
                {"name": "buy", "url": "/buy", "form": {"who": "{{users.name}}", "c": "{{users.city}}", "k": "{{csrf}}"}}
              ]
            }
            """
        )
        let login = answer(#"{"a":[{"t":"t/1"}],"x":"csrf=abc"}"#, "X-Id: i 1\r\nSet-Cookie: sid=s1; Path=/\r\n")
        let bodies = [
            #"{"user":"Ann","city":"New \"York\"","n":1}"#, #"{"user":"Bob","city":"Rome","n":1}"#,
            "who=Ann&c=New%20%22York%22&k=abc", "who=Bob&c=Rome&k=abc",
        ]
        let visit = { (login: RawStep, number: Int) -> [RawStep] in
            [
                .receive(.headEnd), .receive(.bytes(bodies[number].utf8.count)), login, .receive(.headEnd),
                self.answer("1"), .receive(.headEnd), self.answer("2"), .receive(.headEnd),
                .receive(.bytes(bodies[number + 2].utf8.count)), self.answer("3"),
            ]
        }
        let server = try RawServer.start([RawScript(visit(login, 0) + visit(login, 1))])
        defer { server.stop() }
        let ended = try volley([
            "--scenario", scenario.path, "-n", "8", "-c", "1", "-H", "User-Agent:", "--format", "json", server.url("/"),
        ])
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        let host = "Host: 127.0.0.1:\(server.port)\r\n"
        let expected = (0..<2).map { number in
            let (body, form) = (bodies[number], bodies[number + 2])
            let item = "GET /item/i%201/s1 HTTP/1.1\r\n\(host)T: t/1 x\r\nX-Shop: s&1\r\n\r\n"
            return
                "POST /login?shop=s%261 HTTP/1.1\r\n\(host)Content-Type: application/json\r\nX-Shop: s&1\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)" + item + item
                + "POST /buy HTTP/1.1\r\n\(host)Content-Type: application/x-www-form-urlencoded\r\nX-Shop: s&1\r\n"
                + "Content-Length: \(form.utf8.count)\r\n\r\n\(form)"
        }
        #expect(server.connections.first?.receivedText == expected.joined())
        let names = ended.report["names"] as? [[String: Any]] ?? []
        #expect(names.map { $0["name"] as? String } == ["login", "item", "buy"])
        #expect(names.map { $0["completed"] as? Int } == [2, 4, 2])
        #expect((ended.report["run"] as? [String: Any])?["scenarios"] as? [String] == ["visit"])
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test(
        "by a rate, a user whose pause is over takes the request that waits, also while the run drains",
        arguments: [
            ["-R", "1k", "-n", "3", "-d", "20s", "--drain", "0"], ["-R", "10", "-d", "300ms", "--drain", "20s"],
        ]
    )
    func waiting(line: [String]) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let scenario = file(#"{"steps": [{"url": "/bytes/1", "pause": "400ms"}]}"#)
        let ended = try volley(
            ["--scenario", scenario.path, "-c", "1", "-t", "1", "--format", "json"] + line + [server.url("/")]
        )
        #expect([0, 3].contains(ended.status), "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "completed") == 3 && ended.number("schedule", "unsent") == 0, "\(ended.out)")
    }

    @Test("a number of a check is met however it is written, and an object whatever the order of its members")
    func values() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let run = { (value: String) in
            let scenario = file(
                #"{"steps": [{"url": "/anything", "json": {"n": 1.50, "o": {"a": [1, 2], "b": null}},"#
                    + #""check": {"json": {"/json": \#(value)}}}]}"#
            )
            let ended = try volley([
                "--scenario", scenario.path, "-n", "1", "--format", "json", server.url("/"),
            ])
            return ended.status
        }
        #expect(try run(#"{"n": 1.5, "o": {"a": [1, 2], "b": null}}"#) == 0)
        #expect(try run(#"{"o": {"b": null, "a": [1.0, 20e-1]}, "n": 15e-1}"#) == 0)
        #expect(try run(#"{"n": 1.5, "o": {"a": [2, 1], "b": null}}"#) == 4)
        #expect(try run(#"{"n": 1.5, "o": {"a": [1, 2]}}"#) == 4)
        #expect(try run(#"{"n": "1.5", "o": {"a": [1, 2], "b": null}}"#) == 4)
    }

    private static let checks = """
        {"steps": [
          {"name": "a", "url": "/anything?x=1", "check": {"status": 200, "json": {"/args/x": "1", "/method": "GET"}}},
          {"name": "b", "url": "/anything?x=2", "check": CHECK},
          {"name": "c", "url": "/bytes/1"}
        ]}
        """

    @Test(
        "an answer that fails a check counts as a failure of its name and ends the visit",
        arguments: [
            (#"{"json": {"/args/x": "1"}}"#, "json /args/x"), (#"{"status": "404"}"#, "status 200"),
            (#"{"fields": {"X-None": null}}"#, "header X-None"), (#"{"body": "nowhere"}"#, "body"),
        ]
    )
    func failed(check: String, words: String) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let scenario = file(Self.checks.replacingOccurrences(of: "CHECK", with: check))
        let ended = try volley([
            "--scenario", scenario.path, "-n", "12", "-c", "1", "--format", "json", server.url("/"),
        ])
        #expect(ended.status == 4, "\(ended.err)")
        let names = ended.report["names"] as? [[String: Any]] ?? []
        #expect(names.map { $0["completed"] as? Int } == [6, 0, 0])
        #expect(names.map { $0["failed"] as? Int } == [0, 6, 0])
        let error = (ended.report["errors"] as? [[String: Any]])?.first
        #expect(error?["detail"] as? String == words && error?["count"] as? Int == 6)
    }

    @Test("a check is filled with the values of the visit, and its failure says what was found and what is wanted")
    func filledChecks() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let run = { (check: String) in
            let scenario = file(
                #"{"steps": [{"url": "/anything?x=a%22b&n=7", "extract": {"x": {"json": "/args/x"}, "n": {"json": "/args/n"}}},"#
                    + #"{"url": "/anything?y=a%22b", "json": {"n": 7}, "check": \#(check)}]}"#
            )
            let line = ["--scenario", scenario.path, "-n", "2", "-c", "1", "--format", "json", server.url("/")]
            let ended = try volley(line)
            let error = (ended.report["errors"] as? [[String: Any]])?.first
            let example = error?["example"] as? String ?? ended.err
            return (ended.status, example.drop { $0 != " " }.dropFirst())
        }
        for check in [
            #"{"json": {"/args/y": "{{x}}", "/json/n": "{{n}}", "/json": {"n": 7}}}"#, #"{"body": "\"n\": {{n}}"}"#,
            #"{"fields": {"Content-Length": null}, "json": {"/url": "http://127.0.0.1:PORT/anything?y=a%22b"}}"#
                .replacing("PORT", with: "\(server.port)"),
        ] {
            let (status, example) = try run(check)
            #expect(status == 0, "\(check): \(example)")
        }
        for (check, words) in [
            (#"{"json": {"/args/y": "{{n}}"}}"#, #"/args/y is "a\"b", and "7" is wanted"#),
            (#"{"json": {"/none": "{{n}}"}}"#, #"/none is not there, and "7" is wanted"#),
            (#"{"json": {"/json/n": 8}}"#, "/json/n is 7, and 8 is wanted"),
            (
                #"{"fields": {"Content-Type": "{{x}}"}}"#,
                #"the field Content-Type is "application/json", and "a\"b" is wanted"#
            ),
            (
                #"{"fields": {"Content-Type": "text/css"}}"#,
                #"the field Content-Type is "application/json", and "text/css" is wanted"#
            ),
            (#"{"fields": {"X-None": null}}"#, "the field X-None is not there, and any value is wanted"),
            (#"{"body": "nowhere"}"#, #"the content does not have "nowhere", which is wanted"#),
            (#"{"status": "404,500-599"}"#, "the status is 200, and 404, 500-599 is wanted"),
        ] {
            let (status, example) = try run(check)
            #expect(status == 4 && example.hasSuffix(words), "\(check): \(example)")
        }
        let (status, example) = try run(#"{"body": "{{x}} {{n}}"}"#)
        #expect(status == 4 && example.hasSuffix(#"and "a\"b 7" in it is wanted"#), "\(example)")
        for (check, words) in [
            (#"{"body": "{{uuid}}"}"#, "is filled in with a new value"),
            (#"{"json": {"/a": "{{later}}"}}"#, "cannot be filled in"),
        ] {
            let (status, complaint) = try run(check)
            #expect(status == 1 && complaint.contains(words), "\(complaint)")
        }
    }

    @Test("a visit continues after a failure if the step says so, and a missing value is a failure")
    func continued() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let scenario = file(
            #"{"steps": [{"name": "a", "url": "/status/500", "continue": true}, {"name": "b", "url": "/status/404"},"#
                + #"{"name": "c", "url": "/bytes/1"}]}"#
        )
        let run = { (scenario: TemporaryFile) in
            try volley([
                "--scenario", scenario.path, "-n", "10", "-c", "2", "-t", "2", "--format", "json", server.url("/"),
            ])
        }
        let ended = try run(scenario)
        #expect(ended.status == 5)
        let names = ended.report["names"] as? [[String: Any]] ?? []
        // 10 requests of two users, each with 5: a b a b a.
        #expect(names.map { $0["http_errors"] as? Int } == [6, 4, 0], "\(ended.out)")
        let missing = try run(
            file(
                #"{"steps": [{"name": "a", "url": "/bytes/3", "extract": {"t": {"json": "/t"}}}, {"name": "b", "url": "/{{t}}"}]}"#
            )
        )
        #expect(missing.status == 4)
        #expect((missing.report["errors"] as? [[String: Any]])?.first?["detail"] as? String == "extract t")
    }

    @Test("with a rate, visits are due, pauses are kept, and scenarios follow their weights")
    func rate() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let scenario = file(
            """
            {"cookies": true, "scenarios": [
              {"name": "reads", "weight": 3, "steps": [{"name": "r1", "url": "/bytes/1", "pause": "30ms"}, {"name": "r2", "url": "/bytes/2"}]},
              {"name": "writes", "steps": [{"name": "w1", "url": "/cookies/set?a=1", "check": {"status": 302}}]}
            ]}
            """
        )
        let log = TemporaryFile()
        let ended = try volley([
            "--scenario", scenario.path, "-R", "200", "-n", "100", "-t", "2", "--drain", "60s", "--format", "json",
            "--format", "requests=\(log.path)", server.url("/"),
        ])
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        #expect(ended.number("schedule", "due") == 100)
        let parts = ["sent", "refused", "unsent"].compactMap { ended.number("schedule", $0) }
        #expect(parts.reduce(0, +) == 100, "\(parts)")
        let counts = (ended.report["names"] as? [[String: Any]] ?? []).compactMap { $0["completed"] as? Int }
        #expect(counts.count == 3 && counts[0] + counts[2] == 100 && counts[1] <= counts[0], "\(counts)")
        #expect((60...90).contains(counts[0]), "\(counts)")
        #expect(server.requestCount == UInt64(counts.reduce(0, +)))
        // Of visits that were due, not of requests.
        let ratio = (ended.report["schedule"] as? [String: Any])?["rate_ratio"] as? Double ?? 2
        #expect(ratio <= 1, "\(ratio)")
        // The second request of a visit has a time of its own name, raw.
        let times = (ended.report["names"] as? [[String: Any]] ?? []).map {
            ($0["latency"] as? [String: Any])?["count"] as? Int
        }
        #expect(times == counts)
    }

    @Test("in the log of requests only the first request of a visit has an instant at which it was due")
    func log() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let scenario = file(
            #"{"steps": [{"name": "a", "url": "/redirect/2", "pause": "1ms"}, {"name": "b", "url": "/bytes/1"}]}"#
        )
        let log = TemporaryFile()
        let ended = try volley([
            "--scenario", scenario.path, "--redirects", "4", "-R", "100", "-n", "5", "-t", "1", "-c", "4", "--drain",
            "60s", "--format", "requests=\(log.path)", server.url("/"),
        ])
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        let rows = log.text.split(separator: "\n").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        #expect(rows.count >= 15)
        let due = rows.filter { !$0[0].isEmpty }
        #expect(due.map { $0[4] } == [Substring](repeating: "302", count: 5) && due.allSatisfy { $0[9] == "a" })
        #expect(Set(due.map { $0[0] }).count == 5)
    }

    @Test("figures by step stand in conditions, and a file's URL is the run's")
    func conditions() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let scenario = file(
            #"{"url": "\#(server.url("/"))", "steps": [{"name": "slow", "url": "/latency?ms=30"}, {"name": "b", "url": "/bytes/1"}]}"#
        )
        let run = { try volley(["--scenario", scenario.path, "-n", "6", "-c", "1", "--fail-if", $0]) }
        #expect(try run("p50{slow}>20ms").status == 2)
        #expect(try run("p50{b}>20s").status == 0)
        #expect(try run("p50{c}>20s").status == 1)
    }

    @Test(
        "an error in a file is reported with its position, and nothing is started",
        arguments: [
            ("{\n  [", "cannot be read as JSON: line 2, column 3: unexpected ["),
            ("{}", "neither steps nor scenarios"),
            (#"{"steps": [{"url": "/a", "url": "/b"}]}"#, "line 1, column 26: a member's name is there twice"),
            (#"{"steps": []}"#, "steps may go by without"),
            (#"{"steps": [{"url": "/", "exrtact": {}}]}"#, #"steps[0] has "exrtact", which is unknown"#),
            (#"{"steps": [{"pause": 1}]}"#, "may go by without a request"),
            (#"{"steps": [{"loop": 2, "steps": [{"choose": [{"steps": []}]}]}]}"#, "steps[0].steps may go by"),
            (#"{"steps": [{"loop": 0, "steps": []}]}"#, "steps[0].loop is no whole number"),
            (#"{"steps": [{"url": "/{{t}}"}]}"#, "steps[0].url cannot be filled in: {{t}} is unknown"),
            (#"{"variables": {"a": 1}, "steps": [{"url": "/{{t}}"}]}"#, "traceparent, or a"),
            (#"{"variables": {"uuid": "1"}, "steps": [{"url": "/"}]}"#, "variables.uuid is no name"),
            (#"{"steps": [{"url": "/", "body": "a", "json": 1}]}"#, "has body and json: a request has one content"),
            (#"{"steps": [{"url": "/", "extract": {"t": {}}}]}"#, "steps[0].extract.t needs one of"),
            (#"{"steps": [{"url": "/", "extract": {"t": {"pattern": "("}}}]}"#, "pattern is no pattern: at byte 1"),
            (#"{"steps": [{"url": "/", "extract": {"t": {"json": "t"}}}]}"#, "json is no JSON pointer"),
            (#"{"steps": [{"url": "/", "check": {"status": "9"}}]}"#, #"steps[0].check.status "9" is no status"#),
            (#"{"steps": [{"url": "/", "pause": "x"}]}"#, #"steps[0].pause "x" is not a time"#),
            (#"{"data": {"d": {"file": "/nowhere.csv"}}, "steps": [{"url": "/"}]}"#, "cannot be read"),
            (#"{"steps": [{"url": "/"}], "scenarios": []}"#, "exclude each other"),
            (#"{"steps": [{"url": "/", "method": "A B"}]}"#, #": steps[0]: the method "A B" is not a method"#),
            (
                #"{"steps": [{"loop": 2, "steps": [{"url": "/", "fields": {"Content-Length": 1}}]}]}"#,
                #": steps[0].steps[0]: the field "Content-Length" is volley's own: the framing follows from the content"#
            ),
        ]
    )
    func refused(text: String, words: String) throws {
        let scenario = file(text)
        let ended = try EndedProgram(built: "volley", ["check", scenario.path])
        #expect(ended.status == 1 && ended.out.isEmpty)
        #expect(ended.err.contains(words) && ended.err.split(separator: "\n").count == 1, "\(ended.err)")
    }

    @Test("volley check reads a scenario and summarizes its file")
    func checked() throws {
        let scenario = file(Self.checks.replacingOccurrences(of: "CHECK", with: "{}"))
        let ended = try EndedProgram(built: "volley", ["check", scenario.path])
        #expect(ended.out == "\(scenario.path): 1 scenario (visit), 3 requests: a, b, c\n")
        for (line, words) in [
            (["--input", "urls=x"], "exclude"), (["--order", "random"], "exclude"),
            (["-m", "PUT"], "the file says what each request is"), (["--pipeline", "2"], "--pipeline"),
            (["--template"], "--template"), (["--handshake-only"], "--handshake-only"),
        ] {
            let refused = try EndedProgram(
                built: "volley",
                ["--scenario", scenario.path] + line + ["http://127.0.0.1:1/"]
            )
            #expect(refused.status == 1 && refused.err.contains(words), "\(refused.err)")
        }
        let example = file(Self.example)
        #expect(try EndedProgram(built: "volley", ["check", example.path]).err.contains("users.csv"))
        #expect(try SchemaCheck(ScenarioFile.schema).complaints(about: Self.example) == [])
        #expect(try SchemaCheck(ScenarioFile.schema).complaints(about: #"{"steps": [{"ulr": "/"}]}"#) != [])
        #expect(try EndedProgram(built: "volley", ["schema", "scenario"]).out == ScenarioFile.schema + "\n")
    }

    /// The example of `SCENARIOS.md`.
    private static let example: String = {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/volley/SCENARIOS.md")
        let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
        return text.components(separatedBy: "```json\n").dropFirst().first?.components(separatedBy: "```").first ?? ""
    }()

    @Test(
        "records of a data file are RFC 4180's, and a bad one is named by its line",
        arguments: [
            ("a,b\r\n1,\"x\r\ny\"\r\n", ["1", "x\r\ny"]), ("a,b\n\n,\n", ["", ""]), ("\u{FEFF}a\n\"q\"\"\"", ["q\""]),
        ]
    )
    func data(text: String, row: [String]) throws {
        let kept = file(text)
        let data = try DataFile(kept.path)
        #expect(data.rows.map { $0.map { String(decoding: $0, as: UTF8.self) } } == [row])
        #expect(data.columns.first == "a")
    }

    @Test(
        "a malformed data file is refused",
        arguments: [
            ("", "no columns"), ("a,a\n1,2", "line 1: each column"), ("a\n", "no row"),
            ("a,b\n1\n", "line 2: it has 1 values"),
            ("a\n\"1\n", "line 2: a quote is not closed"), ("a\n\"1\"2\n", "line 2: something follows"),
            ("a\n1\"\n", "line 2: a quote stands"),
        ]
    )
    func badData(text: String, words: String) {
        let error = #expect(throws: UsageError.self) { try DataFile(Array(text.utf8), "d.csv") }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }
}
