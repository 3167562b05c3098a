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

/// Reports that are written while a run goes on, from real runs.
@Suite(.ownThread)
struct StreamTests {
    private func lines(_ file: TemporaryFile) -> [[Substring]] {
        file.text.split(separator: "\n").dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    }

    /// A run of a second in intervals of a quarter, and the files that it has written.
    private func written(
        _ line: [String]
    ) throws -> (ended: EndedProgram, intervals: TemporaryFile, requests: TemporaryFile, report: TemporaryFile) {
        let (intervals, requests, report) = (TemporaryFile(), TemporaryFile(), TemporaryFile())
        let ended = try volley(
            ["-d", "1s", "-c", "6", "--interval", "250ms", "--format", "csv=\(intervals.path)"] + line
                + ["--format", "requests=\(requests.path)", "--format", "json=\(report.path)", "--format", "hgrm"]
        )
        return (ended, intervals, requests, report)
    }

    @Test("intervals are written while one thread still has requests of a run by count, and the others have none")
    func uneven() throws {
        let gate = RawGate()
        let answer = RawStep.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let server = try RawServer.start(
            [[.receive(.headEnd), .wait(gate), answer, .startOver]],
            otherwise: [.receive(.headEnd), answer, .startOver]
        )
        defer { server.stop() }
        let intervals = TemporaryFile()
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            ["-c", "2", "-t", "2", "-n", "6", "-T", "60s", "-q", "--interval", "100ms", "--format"]
                + ["csv=\(intervals.path)", server.url("/")],
            output: "/dev/null"
        )
        ChildProcess.wait { lines(intervals).count > 3 || !run.isRunning }
        #expect(run.isRunning)
        #expect(lines(intervals).reduce(0) { $0 + (Int($1[2]) ?? 0) } == 3)
        gate.open()
        #expect(try run.waitForEnd() == 0)
        #expect(lines(intervals).reduce(0) { $0 + (Int($1[2]) ?? 0) } == 6)
    }

    @Test(
        "intervals, requests and percentiles say the same as the report",
        arguments: [[], ["--rate", "400"], ["--warmup", "300ms"]]
    )
    func agree(line: [String]) throws {
        var run = try written(line)
        // A machine that stands still for most of a second leaves few intervals, or no request. The run is tried three
        // times at most.
        for _ in 0..<2 where lines(run.intervals).count < 3 { run = try written(line) }
        let (ended, intervals, requests, report) = run
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        let saved = try SavedReport(path: report.path)
        let completed = try #require(saved.document["requests"]?["completed"]?.integer)
        let rows = lines(intervals)
        #expect(rows.count >= 3)
        #expect(rows.reduce(0) { $0 + (UInt64($1[2]) ?? 0) } == completed)
        let log = lines(requests)
        // The log is of the whole run, warm-up included.
        if line.first == "--warmup" {
            #expect(UInt64(log.count) > completed)
        } else {
            #expect(UInt64(log.count) == completed)
        }
        if line.isEmpty {
            // Percentiles against a sort of all times.
            let times = log.compactMap { UInt64($0[2]) }.sorted()
            let summary = try #require(try saved.histogram(.success)?.summary())
            for point in summary.percentiles {
                let exact = Double(times[Int(LatencyHistogram.rank(point.percentile, of: UInt64(times.count))) - 1])
                #expect(abs(Double(point.value) - exact) <= exact * 0.001, "p\(point.percentile)")
            }
            #expect(summary.maximum == times.last)
        }
        #expect(log.allSatisfy { $0.count == 12 && $0[4] == "200" && (line.first == "--rate") == !$0[0].isEmpty })
        let points = saved.document["intervals"]?.items ?? []
        #expect(points.reduce(0) { $0 + ($1["completed"]?.integer ?? 0) } == completed)
        #expect(ended.out.contains("#[Max"))
    }

    @Test(
        "a real interval log and report are read by hdrhistogram and jsonschema from PyPI",
        .enabled(if: Python.isInstalled, Comment(rawValue: Python.reason))
    )
    func independent() throws {
        let (log, report, schema) = (TemporaryFile(), TemporaryFile(), TemporaryFile())
        let ended = try volley(
            [
                "-n", "300", "-c", "4", "--rate", "300", "--interval", "200ms", "--format", "hlog=\(log.path)",
                "--format", "json=\(report.path)", "-q",
            ]
        )
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        schema.append(Array(try EndedProgram(built: "volley", ["schema"]).out.utf8))
        let script = """
            import json, sys, jsonschema
            from hdrh.log import HistogramLogReader
            from hdrh.histogram import HdrHistogram
            report, schema = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
            jsonschema.Draft202012Validator.check_schema(schema)
            jsonschema.Draft202012Validator(schema).validate(report)
            target = HdrHistogram(1, 3600000000000, 3)
            reader, sums = HistogramLogReader(sys.argv[3], target), {}
            while (interval := reader.get_next_interval_histogram()):
                sums.setdefault(interval.get_tag(), HdrHistogram(1, 3600000000000, 3)).add(interval)
            for tag, section, name in [("raw", "latency", "raw"), ("corrected", "schedule", "corrected"),
                                       ("ttfb", "latency", "first_byte"), ("connect", "latency", "connect")]:
                told = report[section][name]
                assert sums[tag].get_total_count() == told["count"], tag
                whole = HdrHistogram.decode(told["hdr"])
                mine = {i.value_iterated_to: i.count_added_in_this_iter_step for i in sums[tag].get_recorded_iterator()}
                theirs = {i.value_iterated_to: i.count_added_in_this_iter_step for i in whole.get_recorded_iterator()}
                assert mine == theirs, tag
            print(sorted(sums))
            """
        let read = try Python.run(script, report.path, schema.path, log.path)
        #expect(read.status == 0, "\(read.err)")
        #expect(read.out == "['connect', 'corrected', 'lag', 'raw', 'ttfb', 'wait']\n")
    }

    @Test(
        "Prometheus reads the metrics of a run under way",
        .enabled(if: Python.isInstalled, Comment(rawValue: Python.reason))
    )
    func metrics() throws {
        let words = TemporaryFile()
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            ["-d", "60s", "-c", "2", "-T", "60s", "--prometheus", "0", "--interval", "100ms"],
            error: words.path
        )
        defer { run.signal(SIGKILL) }
        ChildProcess.wait { words.text.contains("/metrics") }
        let url = try #require(words.text.split(whereSeparator: \.isWhitespace).first { $0.hasSuffix("/metrics") })
        let script = """
            import subprocess, sys, time
            from prometheus_client.parser import text_string_to_metric_families as parse
            end = time.monotonic() + 50
            while time.monotonic() < end:
                got = subprocess.run(["curl", "-s", "-D", "-", sys.argv[1]], capture_output=True, text=True, check=True).stdout
                head, body = got.replace("\\r\\n", "\\n").split("\\n\\n", 1)
                families = {family.name: family for family in parse(body)}
                done = [s for s in families["volley_requests"].samples if s.labels["outcome"] == "success"][0].value
                if done > 0: break
            assert "text/plain; version=0.0.4" in head, head
            times = families["volley_request_duration_seconds"]
            assert times.type == "histogram"
            counts = [s.value for s in times.samples if s.name.endswith("_bucket")]
            assert counts == sorted(counts) and counts[-1] == done, counts
            assert [s.value for s in families["volley_responses"].samples] == [done]
            missing = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", sys.argv[1] + "x"], capture_output=True, text=True)
            print(int(done) > 0, missing.stdout)
            """
        let read = try Python.run(script, String(url))
        #expect(read.status == 0, "\(read.err)")
        #expect(read.out == "True 404\n")
        run.signal(SIGINT)
        #expect(try run.waitForEnd() == 130)
    }

    @Test(
        "a terminal gets a plot, or a line, or nothing, and a clean line for the report",
        arguments: ["--live", "", "-q"]
    )
    func terminal(flag: String) throws {
        let ended = try volleyOnTerminal(
            ["-d", "3s", "-c", "2", "-T", "60s", "--interval", "500ms"] + (flag.isEmpty ? [] : [flag])
        )
        #expect(ended.status == 0)
        #expect(ended.out.contains("per second") == (flag == "--live"))
        #expect(ended.out.contains("requests/s ·") == (flag != "-q"))
        #expect(ended.out.contains("Requests"))
    }
}
