import Foundation
import LoadTestSupport
import TestSupport
import Testing
import UncurlTestServer
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Merges parts of a run that separate processes have made.
@Suite(.ownThread)
struct MergeTests {
    private func saved(_ path: String) throws -> SavedReport { try SavedReport(path: path) }

    private func counters(_ histogram: LatencyHistogram?) -> [UInt64: UInt64] {
        var found: [UInt64: UInt64] = [:]
        histogram?.forEachRecorded { found[$0, default: 0] += $1 }
        return found
    }

    @Test("four shards send the requests of one run, and their merge equals the server's counts")
    func shards() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let folder = NSTemporaryDirectory() + "/volley-shards-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let start = "\(Date().timeIntervalSince1970 + 0.5)"
        let names = (0..<4).map { "\(folder)/\($0)" }
        let shards = try names.indices.map { index in
            try ChildProcess(
                "/usr/bin/env",
                [
                    "JOB_COMPLETION_INDEX=\(index)", EndedProgram.built("volley"), "-n", "403", "-c", "9", "-t", "1",
                    "-T", "60s",
                ]
                    + [
                        "--shard", index == 3 ? "3/4" : "/4", "--start-at", start, "--format",
                        "json=\(names[index]).json",
                    ]
                    + [
                        "-o", "\(names[index]).hlog", "--format", "requests=\(names[index]).csv", "-q",
                        server.url("/bytes/128"),
                    ]
            )
        }
        for shard in shards { #expect(try shard.waitForEnd() == 0) }
        #expect(server.requestCount == 403)
        let merged = "\(folder)/all.json"
        let ended = try EndedProgram(
            built: "volley",
            [
                "merge", "--format", "json=\(merged)", "--format", "text", "-o", "\(folder)/all.txt", "-o",
                "\(folder)/all.html",
            ]
                + ["-o", "\(folder)/all.hgrm"] + names.map { $0 + ".json" }
        )
        #expect(ended.status == 0, "\(ended.err)")
        let whole = try saved(merged)
        #expect(whole.document["requests"]?["completed"]?.integer == 403)
        #expect(whole.document["run"]?["connections"]?.integer == 9)
        #expect(whole.document["run"]?["merged_from"]?.integer == 4)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: whole.document.text) == [])
        // All requests: the logs of single requests of all parts.
        var saw = LatencyHistogram()
        for name in names {
            for line in try String(contentsOfFile: name + ".csv", encoding: .utf8).split(separator: "\n").dropFirst() {
                let cells = line.split(separator: ",", omittingEmptySubsequences: false)
                saw.record(try #require(UInt64(cells[2])))
            }
        }
        let success = try whole.histogram(.success)
        #expect(counters(success) == counters(saw))
        #expect(success?.summary() == saw.summary())
        let log = "\(folder)/all.hlog"
        let logs = try EndedProgram(built: "volley", ["merge", "-o", log] + names.map { $0 + ".hlog" })
        #expect(logs.status == 0, "\(logs.err)")
        let text = try String(contentsOfFile: log, encoding: .utf8)
        let lines = try HistogramLog.read(text, path: log).lines.filter { $0.tag == "raw" }
        let sum = lines.reduce(into: LatencyHistogram()) { $0.merge($1.counters) }
        #expect(counters(sum) == counters(saw))
        #expect(try String(contentsOfFile: "\(folder)/all.txt", encoding: .utf8).contains("4 reports of"))
        #expect(try String(contentsOfFile: "\(folder)/all.html", encoding: .utf8).contains("merged from 4 reports"))
    }

    @Test("two shards keep a rate together, by turns")
    func rate() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let parts = try (0..<2).map { index in
            try ChildProcess(
                EndedProgram.built("volley"),
                [
                    "--rate", "200", "-d", "2s", "-c", "8", "--shard", "\(index)/2", "-T", "60s", "-q",
                    server.url("/bytes/8"),
                ]
            )
        }
        for part in parts { #expect([0, 3].contains(try part.waitForEnd())) }
        #expect(server.requestCount == 400)
    }

    @Test(
        "a malformed part, and reports that do not belong together, are refused with a reason",
        arguments: [
            (["--shard", "4/4"], "beyond the last part"), (["--shard", "x"], "no part of a whole"),
            (["--shard", "/4"], "JOB_COMPLETION_INDEX is not set"), (["--shard", "0/0"], "no part of a whole"),
            (["-c", "2", "--shard", "0/4"], "is less than the 4 parts"),
            (["--start-at", "noon"], "is no time"), (["merge"], "volley: "),
            (["merge", "/nowhere.json"], "cannot be read"),
            (["merge", "/etc/hostname"], "not a JSON report"),
            (["merge", "/a.hlog", "/b.json"], "either .hlog files or JSON"),
            (["merge", "/a.json", "/a.json"], "twice"), (["merge", "--format", "csv=/x", "/a.json"], "not csv"),
        ] as [([String], String)]
    )
    func refused(line: [String], words: String) throws {
        let ended = try EndedProgram(built: "volley", line)
        #expect(ended.status == 1)
        #expect(ended.err.contains(words), "\(ended.err)")
        #expect(ended.err.filter(\.isNewline).count == 1)
    }

    private func report(_ changes: (inout [String: Any]) -> Void = { _ in }) throws -> TemporaryFile {
        var report = try volley(["-n", "4", "-c", "1", "--format", "json", "-q"]).report
        changes(&report)
        return TemporaryFile(Array(try JSONSerialization.data(withJSONObject: report)))
    }

    @Test("a report of an older volley, which called raw times successes, is read")
    func older() throws {
        let old = try sampleResult().json.text.replacing("\"schema\": 2", with: "\"schema\": 1")
            .replacing("    \"raw\": {", with: "    \"success\": {")
        let files = (0..<2).map { _ in TemporaryFile(Array(old.utf8)) }
        let reports = try files.map { try saved($0.path) }
        #expect(try reports[0].headline()?.count == 1_800)
        let whole = try SavedReport.merged(reports)
        #expect(whole.document["schema"]?.integer == 2)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: whole.document.text) == [])
    }

    @Test("the merged status is that of the worst part, in any order")
    func worst() throws {
        let parts = try [5, 4].map { status in try report { $0["exit_status"] = status } }
        for order in [parts, parts.reversed()] {
            #expect(try EndedProgram(built: "volley", ["merge"] + order.map(\.path)).status == 4)
        }
        #expect(Verdict.worse(0, 5) == 5 && Verdict.worse(3, 130) == 130 && Verdict.worse(2, 4) == 2)
    }

    /// A run of 1,800 successes, 100 HTTP errors and 20 failures.
    private func part(
        _ seconds: Double,
        from start: UInt64 = 0,
        path: String,
        limited: Bool = false
    ) throws -> SavedReport {
        var result = try sampleResult()
        result.measured = UInt64(seconds * 1e9)
        result.startedAt += start
        if limited {
            result.plan = try plan("-R", "1000", "-c", "64", "http://127.0.0.1:8080/")
            result.metrics.parts = .schedule
            result.metrics[.due] = 2_000
            result.metrics[.corrected].record(60_000_000, count: 2_000)
            result.metrics[.unlagged].record(10_000_000, count: 2_000)
        }
        return try SavedReport(result.json, path: path)
    }

    @Test("merged rates are the counts divided by the length, however unequal the parts")
    func rates() throws {
        let rate = { (parts: [SavedReport]) throws(UsageError) in
            let whole = try SavedReport.merged(parts).document
            return (
                whole["rate"]?["successes_per_second"]?.number, whole["rate"]?["completed_per_second"]?.number,
                whole["run"]?["measured_ns"]?.integer
            )
        }
        // In parallel: 3,600 in two seconds. Then the second starts when the first is over.
        #expect(try rate([part(1, path: "a"), part(2, path: "b")]) == (1_800, 1_900, 2_000_000_000))
        #expect(try rate([part(1, path: "a"), part(3, from: 1_000, path: "b")]) == (900, 950, 4_000_000_000))
        #expect(try rate([part(1, path: "a")]) == (1_800, 1_900, 1_000_000_000))
    }

    /// Intervals between those seconds, each with so many answers a second.
    private func course(_ seconds: [Double], perSecond: UInt64, path: String) throws -> SavedReport {
        var result = try sampleResult()
        for (start, end) in zip(seconds, seconds.dropFirst()) {
            var metrics = Metrics()
            metrics[.completed] = UInt64(((end - start) * Double(perSecond)).rounded())
            metrics.statuses[200] = metrics[.completed]
            metrics[.success].record(1_000_000, count: metrics[.completed])
            let interval = Interval(start: UInt64(start * 1e9), end: UInt64(end * 1e9), metrics: metrics)
            result.course.add(interval, of: .requests)
        }
        return try SavedReport(result.json, path: path)
    }

    @Test(
        "intervals are merged by time: they do not overlap, and their rates are the sums of the parts' rates",
        arguments: [
            ([0, 1, 2, 3], [0, 1, 3], [0, 1, 3]), ([0, 1, 3], [0, 1, 2, 3], [0, 1, 3]),
            ([0, 2, 4], [0, 1, 2, 3, 4], [0, 2, 4]), ([0, 1, 2, 3, 4], [0, 2, 3, 4], [0, 2, 3, 4]),
            ([0, 3], [0, 1, 2, 3], [0, 3]), ([0, 1, 2], [0, 1, 2], [0, 1, 2]),
        ] as [([Double], [Double], [UInt64])]
    )
    func courses(left: [Double], right: [Double], merged: [UInt64]) throws {
        let parts = [
            try course(left, perSecond: 100, path: "a"), try course(right, perSecond: 1_000, path: "b"),
        ]
        let whole = try SavedReport.merged(parts)
        let rows = whole.document["intervals"]?.items ?? []
        #expect(rows.map { $0["start_ns"]?.integer } == merged.dropLast().map { $0 * 1_000_000_000 })
        #expect(rows.map { $0["end_ns"]?.integer } == merged.dropFirst().map { $0 * 1_000_000_000 })
        let intervals = try whole.intervals()
        #expect(intervals.allSatisfy { $0.perSecond == 1_100 }, "\(intervals.map(\.perSecond))")
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: whole.document.text) == [])
        let logs = try zip([left, right], [100, 1_000] as [UInt64]).map { seconds, rate in
            let lines = zip(seconds, seconds.dropFirst()).map { start, end in
                var histogram = LatencyHistogram()
                histogram.record(1_000_000, count: UInt64(end - start) * rate)
                let length = UInt64((end - start) * 1e9)
                return HistogramLog.line(tag: "raw", start: UInt64(start * 1e9), length: length, histogram)
            }
            return (path: "p", contents: try HistogramLog.read(lines.joined(), path: "p"))
        }
        let log = try HistogramLog.read(LogMerge(logs).text, path: "p").lines
        #expect(log.map(\.start) == merged.dropLast().map { Double($0) })
        #expect(log.map(\.length) == zip(merged, merged.dropFirst()).map { Double($1 - $0) })
        #expect(log.allSatisfy { Double($0.counters.count) == $0.length * 1_100 })
    }

    @Test("ends that are a little apart are one, a part's rest is kept, and no interval is without a length")
    func boundaries() throws {
        let whole = try SavedReport.merged([
            try course([0, 1.01, 2, 2.001], perSecond: 1_000, path: "a"),
            try course([0, 1, 2.02], perSecond: 1_000, path: "b"),
            try course([0, 0.99, 2, 3, 4.5], perSecond: 1_000, path: "c"),
        ])
        let rows = whole.document["intervals"]?.items ?? []
        let seconds = { (name: String) in rows.map { Double($0[name]?.integer ?? 0) / 1e9 } }
        #expect(seconds("start_ns") == [0, 1.01, 2.02, 3] && seconds("end_ns") == [1.01, 2.02, 3, 4.5])
        #expect(rows.reduce(0) { $0 + ($1["completed"]?.integer ?? 0) } == 2_001 + 2_020 + 4_500)
        // An earlier volley wrote intervals without a length.
        var old = try sampleResult().json
        let row = { (start: UInt64, end: UInt64) -> JSONTree in
            .object([("start_ns", .integer(start)), ("end_ns", .integer(end)), ("completed", .integer(1))])
        }
        old = old.with("intervals", .array([row(0, 0), row(0, 5), row(5, 5), row(5, 9), row(9, 7)]))
        let part = try SavedReport(old, path: "d")
        let intervals = try SavedReport.merged([part, part]).intervals()
        #expect(intervals.map { ($0.seconds * 1e9).rounded() } == [5, 4])
    }

    @Test("a merge with an invalid part is invalid and names that part")
    func invalid() throws {
        let parts = [try part(1, path: "a.json", limited: true), try part(2, path: "b.json", limited: true)]
        let whole = try SavedReport.merged(parts)
        #expect(whole.generatorLimits.count == 2)
        #expect(zip(whole.generatorLimits, ["a.json: ", "b.json: "]).allSatisfy { $0.hasPrefix($1) })
        let text = try whole.text()
        #expect(text.contains("INVALID     volley was the limit: a.json: its own lateness made the p99 60"), "\(text)")
        #expect(try whole.page().contains("<li>b.json: its own lateness made the p99 60"))
        #expect(whole.document["schedule"]?["wanted_per_second"]?.number == 2_000)
        #expect(whole.document["schedule"]?["rate_ratio"]?.number == 0.95)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: whole.document.text) == [])
    }

    @Test("a merged rate ratio leaves out what was not due, a redirection of a later request once")
    func ratio() throws {
        var result = try sampleResult(failing: false)
        result.plan = try plan("-R", "1000", "-c", "64", "http://127.0.0.1:8080/")
        result.metrics.parts = .schedule
        result.metrics[.due] = 1_000
        // Of 1,800 answers.
        (result.metrics[.followUps], result.metrics[.redirects], result.metrics[.drained]) = (800, 300, 100)
        #expect(result.metrics.rateRatio == 0.9)
        let part = try SavedReport(result.json, path: "a")
        #expect(try SavedReport.merged([part, part]).document["schedule"]?["rate_ratio"]?.number == 0.9)
    }

    @Test("impossible numbers in a report are merged and shown without a trap")
    func absurd() throws {
        let parts = try (0..<2).map { _ in
            try report { report in
                var run = report["run"] as? [String: Any] ?? [:]
                run["merged_from"] = UInt64.max
                report["run"] = run
                report["rate"] = ["successes_per_second": 1e300]
                report["requests"] = ["failed": UInt64.max, "http_errors": UInt64.max]
            }
        }
        let page = TemporaryFile()
        let ended = try EndedProgram(built: "volley", ["merge", "--format", "html=\(page.path)"] + parts.map(\.path))
        #expect(ended.status == 0, "\(ended.err)")
        #expect(page.text.contains("</html>"))
    }

    @Test("logs that count more than any run are refused, not added up beyond what a counter holds")
    func counts() {
        var histogram = LatencyHistogram()
        histogram.record(1, count: LatencyHistogram.countLimit)
        let line = HistogramLog.line(tag: "raw", start: 0, length: 1, histogram)
        let log = { (path: String, lines: Int) throws(UsageError) in
            (path: path, contents: try HistogramLog.read(String(repeating: line, count: lines), path: path))
        }
        #expect(throws: Never.self) { try LogMerge([log("a", 1)]) }
        #expect { try LogMerge([log("a", 1), log("b", 1)]) } throws: { "\($0)".contains("more values than any run") }
    }

    @Test("a log with more lines than memory has room for counters is merged")
    func longLog() throws {
        var histogram = LatencyHistogram()
        histogram.record(1_000_000)
        let lines = (0..<10_000).map { second in
            HistogramLog.line(tag: "raw", start: second * 1_000_000_000, length: 1_000_000_000, histogram)
        }
        let folder = NSTemporaryDirectory() + "uncurl-merge-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["a", "b"] {
            let text = HistogramLog.head(startedAt: 0) + lines.joined()
            try text.write(toFile: "\(folder)/\(name).hlog", atomically: false, encoding: .utf8)
        }
        let merged = TemporaryFile()
        let line = "cd \(folder) && ulimit -v 1500000 && exec \"$0\" merge --format hlog=\(merged.path) a.hlog b.hlog"
        let ended = try EndedProgram("/bin/sh", ["-c", line, EndedProgram.built("volley")])
        #expect(ended.status == 0, "\(ended.err)")
        let read = try HistogramLog.read(merged.text, path: "merged").lines
        #expect(read.count == 10_000 && read.last?.counters.count == 2)
    }

    @Test("a report that cannot be written does not prevent the others")
    func unwritable() throws {
        let part = try report()
        let ended = try EndedProgram(
            built: "volley",
            ["merge", "--format", "json=/dev/full", "--format", "text", part.path]
        )
        #expect(ended.status == 1)
        #expect(ended.out.contains("1 report of"))
        #expect(ended.err.contains("ENOSPC") && ended.err.filter(\.isNewline).count == 1)
    }

    @Test("a malformed log is refused with its line")
    func badLogs() {
        for (text, words) in [
            ("", "has no histogram"), ("#x\n", "has no histogram"), ("#x\nTag=a,1,2\n", "line 2"),
            ("1,2,3,HISTFAAA\n", "line 1"),
            ("inf,1,2,HISTFAAA\n", "line 1"), ("Tag=a,nan,1,1,HISTFAAA\n", "line 1"),
        ] {
            #expect { try HistogramLog.read(text, path: "p") } throws: { "\($0)".contains(words) }
        }
    }
}
