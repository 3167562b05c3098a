import Foundation
import LoadTestSupport
import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import volley

@Suite("Reports on a terminal", .ownThread)
struct TerminalReportTests {
    private static let line = ["-n", "200", "-c", "2", "-T", "60s", "-q", "--self", "--fail-if", "errors>90%"]

    @Test(
        "a terminal gets a histogram, in colours unless it has none or none are wanted",
        arguments: [([], true), (["NO_COLOR="], true), (["NO_COLOR=1"], false), (["TERM=dumb"], false)]
            as [([String], Bool)]
    )
    func terminal(variables: [String], isColored: Bool) throws {
        let ended = try volleyOnTerminal(Self.line, variables: variables)
        #expect(ended.status == 0, "\(ended.out)")
        let lines = ended.out.replacing("\r\n", with: "\n").split(separator: "\n")
        #expect(lines.contains { $0.contains("Histogram of successes") }, "\(ended.out)")
        // The longest bar reaches the last of the terminal's 100 columns.
        #expect(lines.contains { $0.count == 100 && $0.hasSuffix("█") }, "\(ended.out)")
        #expect(ended.out.contains("\u{1B}") == isColored)
        #expect(ended.out.contains("\u{1B}[32mkept\u{1B}[0m: errors>90%") == isColored)
    }

    @Test("a pipe and a file get neither, though a terminal is there")
    func files() throws {
        let report = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: report) }
        let ended = try volleyOnTerminal(Self.line + ["-o", report.path])
        #expect(ended.out.contains("Histogram"))
        let piped = try volley(Self.line)
        for text in [try String(contentsOf: report, encoding: .utf8), piped.out] {
            #expect(text.contains("kept: errors>90%"))
            #expect(!text.contains("Histogram") && !text.contains("\u{1B}") && !text.contains("█"), "\(text)")
        }
    }

    @Test(
        "a terminal has colours if it has a name",
        arguments: [
            ([:], false), (["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": ""], true),
            (["TERM": "xterm", "NO_COLOR": "0"], false), (["TERM": "dumb"], false),
        ] as [([String: String], Bool)]
    )
    func colours(environment: [String: String], isColored: Bool) {
        let style = Terminal.style(columns: 90) { environment[$0] }
        #expect(style.columns == 90 && style.isColored == isColored)
    }
}
