import Foundation
import Glibc
import LoadTestSupport
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

@Suite("Search for the highest rate", .ownThread)
struct SearchTests {
    /// Simulates a server that is good up to `most` requests per second.
    private func found(
        upTo most: Double,
        from start: UInt64 = 1_000,
        flaky: Set<Int> = []
    ) -> (RateSearch.Step, trials: Int) {
        var search = RateSearch(from: Rate(perSecond: start), notBelow: Rate(nearest: 1e-3))
        var trials = 0
        while case .trial(let rate) = search.step {
            trials += 1
            search.record(rate.perSecond <= most && !flaky.contains(trials))
        }
        return (search.step, trials)
    }

    @Test(
        "a search ends at most five percent below the server's highest rate",
        arguments: [0.4, 3, 999, 1_000, 1_001, 7_777, 123_456]
    )
    func near(most: Double) {
        let (step, trials) = found(upTo: most)
        guard case .found(let rate) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(rate.perSecond <= most && rate.perSecond * RateSearch.precision >= most * 0.999)
        #expect(trials < 25)
    }

    @Test("a rate that is good once and bad once is not the result")
    func confirms() {
        let (step, trials) = found(upTo: 1_500)
        let (again, more) = found(upTo: 1_500, flaky: [trials])
        guard case .found(let rate) = step, case .found(let lower) = again else {
            Issue.record("nothing found")
            return
        }
        #expect(more > trials)
        #expect(lower < rate && lower.perSecond > rate.perSecond * 0.9)
    }

    @Test("where a confirmation fails and nothing is good any more, the search ends in a dozen trials")
    func unsteady() {
        var search = RateSearch(from: Rate(perSecond: 1_000), notBelow: Rate(perSecond: 1))
        var (trials, hasConfirmed) = (0, false)
        var last = Rate.zero
        while case .trial(let rate) = search.step {
            trials += 1
            // The same rate again is the confirmation.
            hasConfirmed = hasConfirmed || rate == last
            search.record(rate.perSecond <= 1_500 && !hasConfirmed)
            last = rate
        }
        #expect(search.step == .none)
        #expect(trials < 20, "\(trials)")
    }

    @Test("an unclear trial is repeated once, and only a second one bounds the result")
    func unclear() {
        for (again, limited) in [(true, false), (nil, true)] as [(Bool?, Bool)] {
            var search = RateSearch(from: Rate(perSecond: 1_000), notBelow: Rate(perSecond: 1))
            search.record(nil)
            #expect(search.step == .trial(Rate(perSecond: 1_000)))
            search.record(again)
            #expect(search.isLimitedAbove == limited)
            #expect(search.step == .trial(Rate(perSecond: limited ? 500 : 2_000)))
        }
    }

    @Test("a run that keeps the goal is a good trial though volley was late, and one that misses it then says nothing")
    func lateness() throws {
        var result = try sampleResult(failing: false)
        result.plan = try plan("-R", "1000", "-t", "2")
        result.metrics.parts = .schedule
        result.metrics[.due] = 1_000
        result.metrics[.lag].record(5_000_000, count: 1_000)
        result.metrics[.corrected].record(9_000_000, count: 1_000)
        result.metrics[.unlagged].record(4_000_000, count: 1_000)
        #expect(!result.generatorLimits.isEmpty)
        #expect(Run.judge(result, try SearchGoal("p99<20ms")) == true)
        #expect(Run.judge(result, try SearchGoal("p99<8ms")) == nil)
        let verdict = { (goal: String) throws(UsageError) in
            try SearchGoal(goal).verdict(of: result.metrics, generatorLimited: true)
        }
        #expect(try verdict("p99<20ms") == .good && verdict("p99<8ms") == .generatorLimited)
    }

    @Test("a search finds what a server of 250 a second can do, although volley is held up again and again")
    func heldUp() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        // volley stands still for 20 of every 170 ms, so more than one request in a hundred is noticed late.
        let script = """
            "$@" & volley=$!
            while kill -STOP $volley 2>/dev/null; do sleep 0.02; kill -CONT $volley; sleep 0.15; done
            wait $volley
            """
        let ended = try EndedProgram(
            "/bin/sh",
            ["-c", script, "sh", EndedProgram.built("volley"), "--search-max", "p90<150ms", "-R", "80", "-d", "400ms"]
                + [
                    "-c", "1", "-t", "1", "-T", "60s", "--drain", "60s", "--format", "json",
                    server.url("/latency?ms=4"),
                ]
        )
        #expect(ended.err.contains("good, though volley was late"), "\(ended.err)")
        let stage = ((ended.report["schedule"] as? [String: Any])?["stages"] as? [[String: Any]])?.first
        let rate = stage?["from_per_second"] as? Double ?? 0
        // Less than 250 where the machine is busy; more for as long as 150 ms of queue last.
        #expect((40...450).contains(rate), "\(ended.err)")
    }

    @Test("a search ends without a result for a server that is never good, and also ends if it always is")
    func ends() {
        #expect(found(upTo: 0).0 == .none)
        #expect(found(upTo: .infinity).0 != .none)
    }

    @Test(
        "where no rate is good a search goes down to one request a trial, and tries a lower first rate once",
        arguments: [(40, [40, 20, 10]), (39, [39, 19.5]), (2, [2])] as [(UInt64, [Double])]
    )
    func floor(start: UInt64, tried: [Double]) {
        var search = RateSearch(from: Rate(perSecond: start), notBelow: Rate(perSecond: 10))
        var rates: [Double] = []
        while case .trial(let rate) = search.step {
            rates.append(rate.perSecond)
            search.record(false)
        }
        #expect(rates == tried && search.step == .none)
    }

    @Test("a goal is percentiles and errors")
    func goals() throws {
        var metrics = Metrics()
        metrics.parts = .schedule
        let goal = try SearchGoal("p99<20ms,errors<10%")
        #expect(!goal.holds(metrics))
        for _ in 0..<100 { metrics[.corrected].record(10_000_000) }
        metrics[.due] = 100
        #expect(goal.holds(metrics))
        metrics[.failed] = 5
        #expect(goal.holds(metrics))
        #expect(try !SearchGoal("max<20ms").holds(metrics))
        metrics[.failed] = 11
        #expect(!goal.holds(metrics))
        metrics[.failed] = 0
        metrics[.corrected].record(30_000_000)
        metrics[.corrected].record(30_000_000)
        #expect(!goal.holds(metrics))
        #expect(try SearchGoal("p50<=20ms").holds(metrics))
        metrics[.unsent] = 1
        #expect(try !SearchGoal("p50<20ms").holds(metrics))
    }

    @Test(
        "a malformed goal is refused",
        arguments: ["", "p99", "p99<", "p99>20ms", "x<1ms", "p0<1ms", "p101<1ms", "errors<150%", "p99<1%"]
    )
    func refused(text: String) {
        #expect(throws: UsageError.self) { try SearchGoal(text) }
    }

    @Test(
        "settings with which no trial can succeed are refused before the first trial",
        arguments: [
            (["http://no.such.host.invalid/"], "cannot be looked up"),
            (["--format", "json=/nowhere/x"], "cannot be written"),
            (["--shard", "0/2"], "each part would find a rate of its own"), (["--start-at", "1"], "leave it out"),
        ] as [([String], String)]
    )
    func impossible(line: [String], words: String) throws {
        let ended = try volley(
            ["--search-max", "p99<20s", "-d", "100ms"] + (line[0].hasPrefix("http") ? [] : ["--self"]) + line
        )
        #expect(ended.status == 1)
        #expect(ended.err.contains(words) && ended.err.filter(\.isNewline).count == 1, "\(ended.err)")
    }

    @Test("where no rate is good the last run is reported, with the words that none was, and the goal is what failed")
    func noneGood() throws {
        let ended = try volley([
            "--search-max", "p99<1us", "-R", "0.01", "-d", "100ms", "-c", "1", "-q", "--format", "json", "--self",
        ])
        #expect([2, 3].contains(ended.status), "\(ended.err)")
        #expect((ended.report["notes"] as? [String])?.contains { $0.hasPrefix("no rate keeps p99<1us") } == true)
    }

    @Test("a search that finds no rate leaves nothing of earlier runs in the files that are written during a run")
    func staleFiles() throws {
        let files = (0..<3).map { _ in TemporaryFile(Array("stale,stale,stale\n".utf8)) }
        let formats = zip(["csv", "hlog", "requests"], files).flatMap { ["--format", "\($0)=\($1.path)"] }
        let line = [
            "--self", "--search-max", "p50<1ns", "-R", "40", "-d", "100ms", "-c", "1", "-t", "1", "-q", "--drain",
            "60s",
        ]
        let ended = try volley(line + formats + ["--format", "json"])
        #expect([2, 3].contains(ended.status), "\(ended.err)")
        for file in files { #expect(!file.text.contains("stale") && !file.text.isEmpty && !file.text.contains("\0")) }
        // The last run's requests alone.
        #expect(files[2].text.split(separator: "\n").count - 1 == ended.number("requests", "completed"))
    }

    @Test("a goal says how many requests can show that it is kept")
    func needed() throws {
        for (text, count) in [
            ("errors<1%", 299), ("p99<1s", 299), ("p50<1s", 5), ("max<1s", 0), ("p99<1s,errors<0.1%", 2_995),
        ] {
            #expect(try SearchGoal(text).needed == UInt64(count), "\(text)")
        }
    }

    @Test(
        "a search whose trials have too few requests for the goal makes them longer, and ends as unclear where that is no help"
    )
    func tooFew() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        // A fiftieth of the answers are errors, which is twice what the goal allows. Forty requests may have none.
        let list = TemporaryFile(Array("/bytes/1 x49\n/status/500\n".utf8))
        let line = [
            "--input", "urls=\(list.path)", "-c", "4", "-t", "1", "-d", "100ms", "-q", "--format", "json", "--drain",
            "60s",
        ]
        let few = try volley(line + ["--search-max", "errors<1%", "-R", "45", server.url("/")])
        #expect(few.status == 3, "\(few.err)")
        let notes = few.report["notes"] as? [String] ?? []
        #expect(notes.contains { $0.contains(": good, of too few requests to know") }, "\(notes)")
        #expect(
            notes.contains {
                $0.wholeMatch(of: #/that is unclear: such a goal needs trials of 299 requests: use -d \d+s/#) != nil
            },
            "\(notes)"
        )
    }

    @Test("a search that is interrupted reports the run it was in")
    func interrupted() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley(
            ["--search-max", "p99<20s", "-R", "50", "-d", "300s", "-c", "4", "-t", "1", "-q", "--format", "json"]
                + [server.url("/bytes/1")]
        ) { server.requestCount > 3 }
        #expect(ended.status == 130)
        #expect(ended.number("requests", "sent") ?? 0 > 3)
        #expect((ended.report["notes"] as? [String])?.contains { $0.hasPrefix("the search was interrupted") } == true)
    }

    @Test("on the wire it finds what two connections to a server of 20 ms can do, and reports a run at that")
    func onTheWire() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let line = ["--search-max", "p90<150ms", "-R", "40", "-d", "400ms", "-c", "2", "-t", "1", "--drain", "60s"]
        let ended = try volley(["--format", "json"] + line + [server.url("/latency?ms=20")])
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        let notes = (ended.report["notes"] as? [String] ?? []).joined(separator: "\n")
        #expect(notes.contains("the highest rate with p90<150ms is"), "\(ended.err)\(ended.out)")
        let run = ended.report["schedule"] as? [String: Any]
        let stage = (run?["stages"] as? [[String: Any]])?.first
        let rate = stage?["from_per_second"] as? Double ?? 0
        // A hundred a second, more for as long as 150 ms of queue last; less where the machine is busy.
        #expect((5...250).contains(rate), "\(rate)")
    }

    @Test("an observer sees each run of a search while it goes on")
    func lookedAt() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let words = TemporaryFile()
        let search = try ChildProcess(
            EndedProgram.built("volley"),
            ["--search-max", "p50<20s", "-R", "50", "-d", "1s", "-c", "2", "-t", "1", "-T", "60s", "--prometheus", "0"]
                + ["--interval", "100ms", "--format", "json", server.url("/bytes/1")],
            output: "/dev/null",
            error: words.path
        )
        defer { search.signal(SIGKILL) }
        ChildProcess.wait { words.text.contains("/metrics") || !search.isRunning }
        let url = try #require(words.text.split(whereSeparator: \.isWhitespace).first { $0.hasSuffix("/metrics") })
        // Counts that went back are those of another run.
        var (last, runs) = (0, 1)
        ChildProcess.wait {
            let count = succeeded(at: String(url)) ?? last
            if count < last { runs += 1 }
            last = count
            return runs == 2 || !search.isRunning
        }
        #expect(runs == 2, "\(words.text)")
        search.signal(SIGINT)
        // Unless the machine's other work ended the search first.
        #expect([0, 2, 3, 4, 130].contains(try search.waitForEnd()))
    }

    @Test("a terminal gets a plot of each run of a search")
    func plotted() throws {
        let line = ["--self", "--search-max", "p50<1us", "-R", "50", "-d", "300ms", "-c", "1", "-t", "1", "-T", "60s"]
        let ended = try volleyOnTerminal(line + ["--live", "--interval", "100ms"])
        #expect([2, 3].contains(ended.status), "\(ended.out)")
        // Each run's plot is erased before the line with its result.
        let runs = ended.out.components(separatedBy: "not good").dropLast()
        #expect(runs.count > 2)
        #expect(runs.prefix(2).allSatisfy { $0.contains("per second") && $0.contains("█") }, "\(ended.out)")
    }

    private func succeeded(at url: String) -> Int? {
        let page = try? EndedProgram(shell: "curl -s \(url)").out
        let line = page?.split(separator: "\n").first { $0.hasPrefix("volley_requests_total{outcome=\"success\"}") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }
}
