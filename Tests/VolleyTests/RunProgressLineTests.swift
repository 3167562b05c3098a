import Foundation
import Testing

@testable import LoadGenerator
@testable import LoadReports
@testable import LocustWorker
@testable import volley

struct RunProgressLineTests {
    private let snapshot = RunSnapshot(completed: 361_204, errors: 3, p50: 1_520_000, p99: 4_310_000)

    @Test("the line has the time, the rate, two percentiles and the errors")
    func text() throws {
        let line = RunProgressLine.text(snapshot, elapsed: 3_000_000_000, rate: 120_401.7, try plan("http://h/"))
        #expect(line == "3 s of 10 s · 120,401 requests/s · p50 1.52 ms, p99 4.31 ms · 3 errors")
    }

    @Test("a narrow terminal gets a line that fits, the most important first", arguments: [80, 60, 40, 24, 10])
    func narrow(columns: Int) throws {
        let plan = try plan("http://h/")
        let line = RunProgressLine.text(snapshot, elapsed: 3_000_000_000, rate: 120_401.7, plan, columns: columns)
        #expect(line.count <= columns, "\(line)")
        let wanted = [
            80: "3 s of 10 s · 120,401 requests/s · p50 1.52 ms, p99 4.31 ms · 3 errors",
            60: "3 s of 10 s · 120,401/s · p99 4.31 ms · 3 errors", 40: "3 s · 120,401/s · p99 4.31 ms · 3 errors",
        ]
        if let text = wanted[columns] { #expect(line == text) }
        let plots = LiveView.lines(IntervalSeries(), columns: columns).map { $0.replacing(#/\u{1B}\[\d*m/#, with: "") }
        #expect(columns < 40 || plots.allSatisfy { $0.count <= columns }, "\(plots)")
    }

    @Test("a run by count shows the count, and a warm-up is called one")
    func kinds() throws {
        let counted = RunProgressLine.text(.init(), elapsed: 0, rate: 0, try plan("-n1k", "http://h/"))
        #expect(counted == "0 s · 0 of 1,000 · 0 requests/s · 0 errors")
        let warm = RunProgressLine.text(.init(), elapsed: 1, rate: 0, try plan("-d5", "--warmup", "2s", "http://h/"))
        #expect(warm == "0 s of 7 s · warming up · 0 requests/s · 0 errors")
    }

    private func drawn(wanted: Bool, terminal: Bool) throws -> String {
        let pipe = Pipe()
        var line = RunProgressLine(
            descriptor: pipe.fileHandleForWriting.fileDescriptor,
            wanted: wanted,
            terminal: terminal
        )
        line.draw(snapshot, elapsed: 1_000_000_000, of: try plan("http://h/"))
        line.draw(.init(), elapsed: 2_000_000_000, of: try plan("http://h/"))
        line.clear()
        line.clear()
        pipe.fileHandleForWriting.closeFile()
        return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    @Test("on a terminal the line is redrawn in place and taken away at the end")
    func redraws() throws {
        let text = try drawn(wanted: true, terminal: true)
        #expect(!text.contains("\n"))
        #expect(text.hasPrefix("\r"))
        #expect(text.hasSuffix("\r\u{1B}[K"))
        #expect(text.components(separatedBy: "requests/s").count == 3)
        #expect(text.contains("361,204 requests/s"))
        #expect(text.components(separatedBy: "\r\u{1B}[K").count == 2)
    }

    @Test("nothing is written without a terminal, or if no line is wanted")
    func silent() throws {
        #expect(try drawn(wanted: true, terminal: false).isEmpty)
        #expect(try drawn(wanted: false, terminal: true).isEmpty)
    }
}
