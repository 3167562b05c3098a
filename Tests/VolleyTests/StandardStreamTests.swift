import TestSupport
import Testing
import UncurlTestServer
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// A file named `-`, and figures that are asked for after the end.
@Suite("Standard streams and late scrapes", .ownThread, .serialized)
struct StandardStreamTests {
    private func shell(_ line: String) throws -> EndedProgram {
        try EndedProgram(shell: line.replacing("volley", with: EndedProgram.built("volley")))
    }

    @Test("a file named - is standard input, and a report named so goes to standard output")
    func dashes() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let list = try shell(
            "echo /bytes/7 | volley -n 4 -c 1 -T 60s --input urls=- --format json=- \(server.url("/"))"
        )
        #expect(list.number("bytes", "in_content") == 28, "\(list.err)")
        let body = try shell(
            "printf hello | volley -n 2 -c 1 -T 60s --body-file - --format json -o - \(server.url("/anything"))"
        )
        #expect(body.number("bytes", "out_content") == 10, "\(body.err)")
        let report = TemporaryFile(Array(list.out.utf8))
        let merged = try shell("volley merge --format json=- - \(report.path) < \(report.path)")
        #expect(merged.number("requests", "completed") == 8, "\(merged.err)")
        #expect(try shell("volley compare - \(report.path) < \(report.path)").status == 0)
    }

    /// A shell's words for a program whose standard output has no reader any more.
    private func unread(_ fifo: TemporaryFile, _ command: String) -> String {
        let path = fifo.path + ".fifo"
        return "mkfifo \(path) && exec 3<>\(path) && exec >\(path) 3<&- && rm \(path) && exec \(command)"
    }

    @Test("a report on standard output that nothing reads keeps no other report from being written")
    func unreadReport() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (fifo, report) = (TemporaryFile(), TemporaryFile())
        let ended = try shell(
            unread(fifo, "volley -n 4 -c 1 -T 60s --format text --format json=\(report.path) \(server.url("/bytes/7"))")
        )
        #expect(ended.status == 1)
        #expect(
            ended.err.hasSuffix(
                "volley: the text report cannot be written: Broken pipe (EPIPE): what read it has ended\n"
            ),
            "\(ended.err)"
        )
        #expect(try SavedReport(path: report.path).document["requests"]?["completed"]?.integer == 4)
    }

    @Test("a run ends when nothing reads the report that it writes meanwhile, and its other reports are written")
    func unreadIntervals() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (fifo, report) = (TemporaryFile(), TemporaryFile())
        let ended = try shell(
            unread(
                fifo,
                "volley -d 600s -c 1 -T 60s --interval 100ms --format csv --format json=\(report.path) \(server.url("/bytes/7"))"
            )
        )
        #expect(ended.status == 1 && ended.err.contains("the csv report cannot be written"), "\(ended.err)")
        let notes = try SavedReport(path: report.path).document["notes"]?.items.compactMap(\.string) ?? []
        #expect(notes.contains("the run was ended, because what read a report of it had ended"), "\(notes)")
    }

    @Test("metrics are there by IPv4 and IPv6, and after the end until they have been read once")
    func lingering() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (words, report) = (TemporaryFile(), TemporaryFile())
        let run = try ChildProcess(
            EndedProgram.built("volley"),
            ["-n", "30", "-c", "1", "-T", "60s", "--prometheus", "0", "--linger", "60s"]
                + ["--format", "json=\(report.path)", server.url("/bytes/1")],
            error: words.path
        )
        defer { run.signal(9) }
        ChildProcess.wait { report.text.contains("exit_status") || !run.isRunning }
        let port = try #require(words.text.firstMatch(of: #/127\.0\.0\.1:(\d+)\/metrics/#)?.1)
        let there = try EndedProgram(
            shell: "curl -sg http://[::1]:\(port)/metrics || curl -s http://127.0.0.1:\(port)/metrics"
        )
        #expect(there.out.contains("volley_requests_total{outcome=\"success\"} 30\n"), "\(there.out)")
        #expect(try run.waitForEnd() == 0)
        #expect(try volley(["--linger", "1s", "-n", "1"]).status == 1)
    }
}
