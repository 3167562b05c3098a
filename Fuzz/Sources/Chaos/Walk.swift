import CMalloc
import Foundation
import Glibc

/// Runs rounds of tasks. After each round every task has ended and every object is released, and the process is
/// measured.
struct Walk {
    private let orders: Orders
    private let folder: String

    /// The share by which live memory may grow between the middle and the end, and the growth in bytes that is ignored:
    /// a dictionary that doubles its capacity is no leak.
    private static let growthAllowed = 0.02
    private static let leastGrowth = 512 << 10

    init(_ orders: Orders, folder: String) { (self.orders, self.folder) = (orders, folder) }

    /// What is measured after a round.
    private struct Sample {
        var sockets: Int
        /// The bytes of the heap that are in use.
        var live: Int
        var resident: Int
    }

    /// False: something was wrong.
    func run() -> Bool {
        ProcessFigures.raiseLimits()
        let ledger = Ledger()
        // Twelve rounds, or fewer of one second each.
        let count = max(1, min(12, orders.seconds))
        let length = Double(orders.seconds) / Double(count)
        let first = sample
        var samples: [Sample] = []
        var thefts = Thief.Counts()
        var left: [String] = []
        for number in 0..<count {
            let round = Round(orders, folder: folder, ledger: ledger, seed: orders.seed &+ UInt64(number) &* 7_919)
            let thief = Thief(folder: folder, seed: orders.seed ^ UInt64(number))
            round.run(until: .now + .seconds(length))
            let taken = thief.stop()
            thefts.descriptors += taken.descriptors
            thefts.disk += taken.disk
            thefts.memory += taken.memory
            thefts.clock += taken.clock
            left += round.end().map { "round \(number): \($0)" }
            let sockets = socketsLeft(above: first.sockets)
            if sockets > 0 { left.append("round \(number): \(sockets) sockets") }
            samples.append(sample)
        }
        let growth = growth(samples.map(\.live))
        report(ledger.totals, thefts, samples, growth)
        var problems = ledger.totals.problems + left.map { "left behind: \($0)" }
        if let growth, growth > Self.growthAllowed {
            problems.append("live memory grew by \(percent(growth)) between the middle and the end")
        }
        for problem in problems.prefix(20) { print("wrong       \(problem)") }
        print(problems.isEmpty ? "verdict     clean" : "verdict     \(problems.count) wrong")
        return problems.isEmpty
    }

    /// Returns the number of open sockets above the usual, once there is none or ten seconds are over: loops close
    /// connections on their own threads.
    private func socketsLeft(above usual: Int) -> Int {
        let limit = ContinuousClock.now + .seconds(10)
        while ProcessFigures.sockets > usual, ContinuousClock.now < limit { usleep(10_000) }
        return max(0, ProcessFigures.sockets - usual)
    }

    private var sample: Sample {
        malloc_trim(0)
        return Sample(
            sockets: ProcessFigures.sockets,
            live: Int(mallinfo2().uordblks),
            resident: ProcessFigures.resident
        )
    }

    /// Returns the growth from the median of the second quarter to that of the last. Nil if there are too few rounds.
    private func growth(_ samples: [Int]) -> Double? {
        guard samples.count >= 8, samples.allSatisfy({ $0 > 0 }) else { return nil }
        let quarter = samples.count / 4
        func median(_ part: ArraySlice<Int>) -> Int { part.sorted()[part.count / 2] }
        let middle = median(samples[(samples.count / 2 - quarter + 1)..<(samples.count / 2 + 1)])
        let end = median(samples.suffix(quarter))
        return end - middle < Self.leastGrowth ? 0 : Double(end) / Double(middle) - 1
    }

    private func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }

    private func report(_ totals: Ledger.Totals, _ thefts: Thief.Counts, _ samples: [Sample], _ growth: Double?) {
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
        let begun = totals.begun.values.reduce(0, +)
        print(
            """
            tasks       \(begun) begun, \(totals.ended) ended, \(totals.whole) of them whole
            of these    \(list(totals.begun))
            failures    \(list(totals.failures))
            taken away  descriptors \(thefts.descriptors) times, the disk \(thefts.disk), memory \(thefts.memory), \
            the right time \(WallClock.canStep ? "\(thefts.clock)" : "never: tools/chaos loads Fuzz/clock.c")
            sockets     \(samples.last?.sockets ?? 0) open after the last round
            memory      \(samples.map { "\($0.live >> 10)" }.joined(separator: " ")) KiB live after each round; \
            \((samples.last?.resident ?? 0) >> 10) KiB resident; growth \(growth.map(percent) ?? "not told")
            """
        )
    }
}
