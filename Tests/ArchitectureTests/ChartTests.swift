import Foundation
import TestSupport
import Testing

/// The picture of README.md, and the benchmark's output that it is drawn from: both are in the repository.
@Suite("Chart", .ownThread)
struct ChartTests {
    @Test("the chart is what Benchmarks/chart.py draws from Benchmarks/session.txt")
    func drawn() throws {
        let root = SourceTree.root
        let picture = FileManager.default.temporaryDirectory.appendingPathComponent("cost-\(UUID().uuidString).svg")
        defer { try? FileManager.default.removeItem(at: picture) }
        let ended = try EndedProgram(
            "/usr/bin/env",
            ["python3"] + ["chart.py", "session.txt"].map { root.appending(path: "Benchmarks/\($0)").path }
                + [picture.path]
        )
        try #require(ended.status == 0, "\(ended.err)")
        let committed = try String(contentsOf: root.appending(path: "Benchmarks/cost.svg"), encoding: .utf8)
        #expect(try String(contentsOf: picture, encoding: .utf8) == committed)
        // Each bar has its figure, and a reader of a dark page colours of its own.
        #expect(committed.components(separatedBy: "<rect").count > 4)
        #expect(committed.contains("prefers-color-scheme: dark"))
    }

    @Test("an output without figures is refused with a sentence")
    func refused() throws {
        let tool = SourceTree.root.appending(path: "Benchmarks/chart.py").path
        let ended = try EndedProgram("/usr/bin/env", ["python3", tool, "/dev/null", "/dev/null"])
        #expect(ended.status == 1)
        #expect(ended.err.contains("no output of ./dev bench session"), "\(ended.err)")
    }
}
