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

/// What signals, full disks and absurd numbers leave of a run.
@Suite(.ownThread, .serialized)
struct InterruptionTests {
    /// A pipe that is too small for a report and is never read.
    private final class Stuffed {
        let path = NSTemporaryDirectory() + "/volley-pipe-\(UUID())"
        let descriptor: Int32

        init() throws {
            try #require(mkfifo(path, 0o600) == 0)
            descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            // F_SETPIPE_SZ: a page, which a page of HTML is larger than.
            _ = fcntl(descriptor, 1031, 4_096)
        }

        deinit {
            close(descriptor)
            unlink(path)
        }

        var isFull: Bool {
            var waiting: Int32 = 0
            return ioctl(descriptor, UInt(FIONREAD), &waiting) == 0 && waiting > 0
        }
    }

    @Test(
        "a first signal ends the run, and a second one ends the program, even if its report has no reader",
        arguments: ["", "trap '' INT; "]
    )
    func second(before: String) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let pipe = try Stuffed()
        // As a shell starts it: a shell may let background programs ignore SIGINT.
        let run = try ChildProcess(
            "/bin/sh",
            ["-c", before + #"exec "$0" "$@""#, EndedProgram.built("volley")]
                + ["-d", "300s", "-c", "2", "-T", "60s", "-q", "--format", "html=\(pipe.path)", server.url("/bytes/1")]
        )
        ChildProcess.wait { server.requestCount > 0 }
        run.signal(SIGINT)
        ChildProcess.wait { pipe.isFull }
        #expect(run.isRunning && pipe.isFull)
        run.signal(SIGINT)
        #expect(try run.waitForEnd() == 130)
    }

    @Test("a hang-up ends the run with its report, unless the signal is ignored", arguments: [false, true])
    func hangUp(isIgnored: Bool) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let report = TemporaryFile()
        // Not by a shell's trap, which cannot reset signals that the tests inherited as ignored (nohup).
        let run = try ChildProcess(
            "/usr/bin/env",
            [isIgnored ? "--ignore-signal=HUP" : "--default-signal=HUP", EndedProgram.built("volley")]
                + [
                    "-d", "300s", "-c", "1", "-T", "60s", "-q", "--format", "json=\(report.path)",
                    server.url("/bytes/1"),
                ]
        )
        ChildProcess.wait { server.requestCount > 0 }
        run.signal(SIGHUP)
        if isIgnored {
            let before = server.requestCount
            ChildProcess.wait { server.requestCount > before + 100 || !run.isRunning }
            #expect(run.isRunning)
            run.signal(SIGINT)
        }
        #expect(try run.waitForEnd() == 130)
        #expect(report.text.contains("\"interrupted\": true"))
    }

    @Test("a first signal while reports are written does not stop them, and a second one does")
    func writing() throws {
        let pipe = try Stuffed()
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            ["-n", "3", "-c", "1", "-T", "60s", "-q", "--format", "html=\(pipe.path)"]
        )
        ChildProcess.wait { pipe.isFull }
        run.signal(SIGINT)
        var page: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        ChildProcess.wait {
            // Read first: everything before the end is written by then.
            let isOver = !run.isRunning
            while case let count = read(pipe.descriptor, &chunk, chunk.count), count > 0 { page += chunk[..<count] }
            return isOver
        }
        #expect(try run.waitForEnd() == 0)
        #expect(String(decoding: page, as: UTF8.self).hasSuffix("</html>\n"))
    }

    @Test("an interrupt before a distant start still writes a report")
    func farStart() throws {
        let file = TemporaryFile()
        let server = try TestServer.start()
        defer { server.stop() }
        let words = TemporaryFile()
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            ["--start-at", "99999999999", "-n", "1", "--prometheus", "0", "--format", "json", server.url("/bytes/1")],
            output: file.path,
            error: words.path
        )
        ChildProcess.wait { words.text.contains("/metrics") }
        run.signal(SIGINT)
        #expect(try run.waitForEnd() == 130)
        #expect(file.text.contains("\"sent\": 0"), "\(words.text)")
    }

    @Test("an interrupt during the warm-up reports that nothing was measured", arguments: ["json", "wrk"])
    func warmUp(format: String) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let line = ["--warmup", "300s", "-c", "2", "-d", "1s", "-q", "--format", format, server.url("/bytes/1")]
        let ended = try volley(line) { server.requestCount > 5 }
        #expect(ended.status == 130, "\(ended.err)")
        // Without the intervals that JSON needs, the counts take another path.
        guard format == "json" else {
            #expect(ended.out.contains("  0 requests in 0.00us"), "\(ended.out)")
            return
        }
        #expect(ended.number("run", "measured_ns") == 0)
        #expect(ended.number("requests", "completed") == 0)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test("a worker whose peer is not a master reports that, reports its totals, and ends")
    func worker() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let words = TemporaryFile()
        let master = server.url("").replacing("http://", with: "")
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            ["worker", "--master", master, server.url("/bytes/1")],
            error: words.path
        )
        ChildProcess.wait { words.text.contains("connecting again") }
        run.signal(SIGINT)
        #expect(try run.waitForEnd() == 130)
        let said = words.text
        #expect(said.contains("not a Locust master") && said.contains("0 requests completed"), "\(said)")
    }

    @Test("repeated runs wait for the start once")
    func oneStart() throws {
        let ended = try volley(["-n", "1", "--repeat", "3", "--start-at", "1", "--no-progress"])
        #expect(ended.status == 0)
        #expect(ended.err.components(separatedBy: "starting now").count == 2, "\(ended.err)")
    }

    @Test("a report that cannot be written does not prevent the others, and the run fails")
    func unwritable() throws {
        let (json, intervals) = (TemporaryFile(), TemporaryFile())
        let ended = try volley([
            "-n", "3", "-c", "1", "-q", "--format", "hgrm=/dev/full", "--format", "hlog=/dev/../dev/full", "--format",
            "text",
            "--format", "json=\(json.path)", "--format", "csv=\(intervals.path)",
        ])
        #expect(ended.status == 1)
        #expect(ended.out.contains("3 sent = 3 completed"))
        #expect(json.text.contains("\"completed\": 3"))
        #expect(intervals.text.filter(\.isNewline).count == 2)
        #expect(ended.err.contains("hgrm") && ended.err.contains("hlog"), "\(ended.err)")
        #expect(ended.err.filter(\.isNewline).count == 1)
    }

    @Test("a rate that no machine keeps ends on time, with every request that came due accounted for")
    func impossibleRate() throws {
        let ended = try volley([
            "--rate", "1G", "-d", "300ms", "-c", "4", "-t", "2", "--drain", "0", "--format", "json", "-q",
        ])
        #expect([3, 4].contains(ended.status), "\(ended.err)")
        let schedule = try #require(ended.report["schedule"] as? [String: Any])
        #expect(schedule["due"] as? Int == 300_000_000)
        let (unsent, sent) = (schedule["unsent"] as? Int ?? 0, ended.number("requests", "sent") ?? 0)
        #expect(unsent + sent == 300_000_000)
        #expect((schedule["corrected"] as? [String: Any])?["count"] as? Int ?? 0 >= unsent)
        #expect(ended.number("run", "measured_ns") ?? 0 < 20_000_000_000)
    }

    @Test("an argument that is not UTF-8 is refused")
    func encoding() throws {
        let program = EndedProgram.built("volley")
        let ended = try EndedProgram(shell: "\(program) -n 1 --body \"$(printf '\\377')\"")
        #expect(ended.status == 1)
        #expect(ended.err.hasPrefix("volley: argument 4 is not UTF-8") && ended.err.filter(\.isNewline).count == 1)
    }
}
