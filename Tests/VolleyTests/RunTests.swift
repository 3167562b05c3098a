import Foundation
import LoadTestSupport
import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// volley as a user runs it: the built program, its report and its exit status.
@Suite(.ownThread, .serialized)
struct RunTests {
    private func serverCount(_ ended: EndedProgram) -> Int? {
        let note = (ended.report["notes"] as? [String])?.last { $0.hasPrefix("the embedded server counted") }
        return note?.split(separator: " ").compactMap { Int($0) }.first
    }

    @Test(
        "a run by count sends exactly that many requests, by the server's count too",
        arguments: [
            ["-n", "101", "-c", "7", "-t", "3"], ["-n", "103", "-c", "4", "-t", "2", "--pipeline", "8"],
            ["-n", "50", "-c", "5", "--close", "rst"], ["-n", "50", "-c", "5", "--close", "fin"],
            ["-n", "20", "--body", "x"], ["-n", "20", "-m", "HEAD"], ["-n", "1"],
            ["-n", "20", "-c", "20", "--connect-rate", "1k/s"],
            ["-n", "20", "--source-address", "127.0.0.2,127.0.0.3"],
        ]
    )
    func byCount(line: [String]) throws {
        let wanted = try #require(Int(line[1]))
        let ended = try volley(["--format", "json"] + line)
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        #expect(ended.number("requests", "sent") == wanted)
        #expect(ended.number("requests", "completed") == wanted)
        #expect(serverCount(ended) == wanted)
        #expect(ended.err.isEmpty)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: ended.out) == [])
    }

    @Test(
        "a timed run's sum holds, by the server's count too, and it ends on time",
        arguments: [
            ["-d", "1s", "-c", "9"], ["-d", "1s", "-c", "9", "--pipeline", "16"],
            ["-d", "1s", "-c", "9", "--close", "rst"],
        ]
    )
    func byTime(line: [String]) throws {
        let ended = try volley(["--format", "json"] + line)
        #expect(ended.status == 0, "\(ended.err)\(ended.out)")
        let sent = try #require(ended.number("requests", "sent"))
        let completed = try #require(ended.number("requests", "completed"))
        #expect(sent == completed + (ended.number("requests", "in_flight_at_stop") ?? -1))
        #expect(completed > 0)
        #expect(serverCount(ended) ?? .max <= sent)
        #expect((1_000_000_000...20_000_000_000).contains(ended.number("run", "measured_ns") ?? 0))
    }

    @Test("refused connects are counted by class and fail the run, which still ends")
    func refused() throws {
        let ended = try volley(["--format", "json", "-n", "12", "-c", "3", "http://127.0.0.1:1/"])
        #expect(ended.status == 4)
        let error = try #require((ended.report["errors"] as? [[String: Any]])?.first)
        #expect(error["class"] as? String == "refused")
        #expect(error["errno_name"] as? String == "ECONNREFUSED")
        #expect(error["count"] as? Int == 12)
        #expect(ended.number("requests", "sent") == 0)
    }

    @Test(
        "a wrong command line prints one line to standard error and ends with status 1",
        arguments: [
            ["http://no.such.host.invalid/"], ["-c", "0"], ["--bogus"],
            ["--format", "json=/nowhere/x"], ["-n1", "--unix-socket", "@x"],
        ]
    )
    func mistakes(line: [String]) throws {
        let ended = try volley(line)
        #expect(ended.status == 1)
        #expect(ended.out.isEmpty)
        #expect(ended.err.hasPrefix("volley: "))
        #expect(ended.err.filter(\.isNewline).count == 1)
    }

    @Test("several reports go to their files, and one to standard output")
    func reports() throws {
        let file = NSTemporaryDirectory() + "/volley-\(UUID().uuidString).json"
        defer { unlink(file) }
        let ended = try volley(["-n", "10", "--format", "wrk", "--format", "json=\(file)"])
        #expect(ended.out.hasPrefix("Running 10 requests test @ http://127.0.0.1:"))
        let written = try String(contentsOfFile: file, encoding: .utf8)
        #expect(try SchemaCheck(SavedReport.schemaText).complaints(about: written) == [])
    }
}
