import Foundation
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct RunProgressLineTests {
    private let total: Metrics = {
        var total = Metrics()
        (total[.completed], total[.failed]) = (361_204, 3)
        total[.success].record(1_520_000, count: 98)
        total[.success].record(4_310_000, count: 2)
        return total
    }()

    private func counted(_ completed: UInt64) -> Metrics {
        var total = Metrics()
        total[.completed] = completed
        return total
    }

    @Test("the line has the time, the rate, two percentiles and the errors")
    func text() throws {
        let line = LiveView.text(total, elapsed: 3_000_000_000, rate: 120_401.7, try plan("http://h/"))
        #expect(line == "3 s of 10 s · 120,401 requests/s · p50 1.52 ms, p99 4.31 ms · 3 errors")
    }

    @Test("a narrow terminal gets a line that fits, the most important first", arguments: [80, 60, 40, 24, 10])
    func narrow(columns: Int) throws {
        let plan = try plan("http://h/")
        let line = LiveView.text(total, elapsed: 3_000_000_000, rate: 120_401.7, plan, columns: columns)
        #expect(line.count <= columns, "\(line)")
        let wanted = [
            80: "3 s of 10 s · 120,401 requests/s · p50 1.52 ms, p99 4.31 ms · 3 errors",
            60: "3 s of 10 s · 120,401/s · p99 4.31 ms · 3 errors", 40: "3 s · 120,401/s · p99 4.31 ms · 3 errors",
        ]
        if let text = wanted[columns] { #expect(line == text) }
        let plots = LiveView.lines(IntervalSeries(), columns: columns, .plain)
        #expect(columns < 40 || plots.allSatisfy { $0.count <= columns }, "\(plots)")
    }

    @Test("plots have the whole width from the first interval on, the newest on the right", arguments: [40, 100, 300])
    func plots(columns: Int) {
        var series = IntervalSeries()
        for index in 0..<UInt64(columns) {
            var metrics = Metrics()
            metrics[.completed] = index == 0 ? 50 : 100
            metrics[.failed] = index == 2 ? 1 : 0
            series.add(Interval(start: index * 1_000, end: (index + 1) * 1_000, metrics: metrics), of: .requests)
            guard [0, 1, 2, 9, columns - 10, columns - 9].contains(Int(index)) else { continue }
            let coloured = LiveView.lines(series, columns: columns, TextStyle(columns: columns, isColored: true))
            let lines = coloured.map { $0.replacing(#/\u{1B}\[\d*m/#, with: "") }
            #expect(lines == LiveView.lines(series, columns: columns, .plain))
            // The lowest row of the first plot, under its heading.
            #expect(lines[6].count == columns && lines[6].hasSuffix("█"), "\(lines[6])")
            #expect(lines.allSatisfy { $0.count <= columns })
            #expect(coloured[6].contains("\u{1B}[31m") == (index >= 2 && index < columns - 9), "\(index)")
            // Two intervals have half of it each.
            if index == 1 { #expect(lines[1].filter { $0 == "█" }.count == (columns - 11) / 2, "\(lines[1])") }
        }
    }

    @Test("a run by count shows the count, and a warm-up is called one")
    func kinds() throws {
        let counted = LiveView.text(Metrics(), elapsed: 0, rate: 0, try plan("-n1k", "http://h/"))
        #expect(counted == "0 s · 0 of 1,000 · 0 requests/s · 0 errors")
        let warm = LiveView.text(Metrics(), elapsed: 1, rate: 0, try plan("-d5", "--warmup", "2s", "http://h/"))
        #expect(warm == "0 s of 7 s · warming up · 0 requests/s · 0 errors")
    }

    private func series(_ completed: UInt64, from start: UInt64, to end: UInt64) -> IntervalSeries {
        var series = IntervalSeries()
        var metrics = Metrics()
        metrics[.completed] = completed
        series.add(Interval(start: start, end: end, metrics: metrics), of: .requests)
        return series
    }

    @Test("the rate is that of the last complete interval, however long, and stays until the next is complete")
    func intervals() throws {
        let invocation = try invocation("-t", "2", "-d", "60s", "--interval", "3s", "http://h/")
        let plan = try RunPlan(invocation.load, .usual)
        let second: UInt64 = 1_000_000_000
        var watch = RunWatch(invocation, plan, files: [], live: (nil, nil), isLead: true)
        var line = LiveView(isWanted: true, terminal: true)
        var rates: [String] = []
        var completed: UInt64 = 0
        func turn(_ elapsed: UInt64) {
            watch.turn(elapsed: elapsed)
            let text = line.next(counted(completed), watch.series, elapsed: elapsed, of: plan)
            if let rate = text.firstMatch(of: /\ (\d+)(?: requests)?\/s/) { rates.append("\(rate.1)") }
        }
        for index in 0..<3 as Range<UInt64> {
            // One thread is later than the other, and a line is drawn between them.
            for worker in 0..<2 {
                var metrics = Metrics()
                metrics[.completed] = 225
                completed += 225
                let end = (index + 1) * 3 * second
                watch.intervals?.put(
                    (worker, false, index, index + 1, end, nil, 0, metrics)
                )
                turn(end + UInt64(worker) * second)
            }
            turn((index + 1) * 3 * second + 2 * second)
        }
        #expect(rates == ["0", "150", "150", "150", "150", "150", "150", "150", "150"])
    }

    @Test("the rate of a warm-up, which has no intervals, is that since its counts last grew")
    func warmUp() throws {
        let plan = try plan("-d5", "--warmup", "9s", "http://h/")
        var line = LiveView(isWanted: true, terminal: true)
        let counts = [(1, 100), (2, 100), (3, 300), (4, 400)] as [(UInt64, UInt64)]
        let lines = counts.map { second, completed in
            line.next(counted(completed), .init(), elapsed: second * 1_000_000_000, of: plan)
        }
        #expect(lines.allSatisfy { $0.contains("warming up · 100") }, "\(lines)")
        // The counts begin anew, and no interval is complete.
        let first = line.next(Metrics(), .init(), elapsed: 9_500_000_000, of: plan)
        #expect(first.contains(" · 100 requests/s · "), "\(first)")
    }

    private func drawn(wanted: Bool, terminal: Bool) throws -> String {
        let pipe = Pipe()
        var line = LiveView(
            Terminal(descriptor: pipe.fileHandleForWriting.fileDescriptor),
            isWanted: wanted,
            terminal: terminal
        )
        let series = series(361_204, from: 0, to: 1_000_000_000)
        line.draw(total, series, counted: 0, elapsed: 1_000_000_000, of: try plan("http://h/"))
        line.draw(Metrics(), series, counted: 0, elapsed: 2_000_000_000, of: try plan("http://h/"))
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
