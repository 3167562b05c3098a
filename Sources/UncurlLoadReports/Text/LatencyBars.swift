package import UncurlLoad

/// A histogram of a few rows. Latencies differ by decades, so the rows are about equally wide on a logarithmic axis.
extension LatencyHistogram {
    /// The upper limits of a decade's rows, the widest rows first.
    private static let decades: [[Double]] = [
        [1], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8],
        [
            1, 1.1, 1.2, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3.2, 3.6, 4, 4.5, 5, 5.6, 6.3, 7.1, 8, 9,
        ],
    ]
    private static let mostRows = 10

    /// The times up to each limit, their number, their share and a bar. The rows reach from the 1st percentile to the
    /// 99th, and one more has what is above. Empty where one row would have everything.
    ///
    /// - Parameter columns: The width; none of the lines is wider.
    package func bars(columns: Int) -> [String] {
        guard let summary = summary(percentiles: [1, 99]), let low = summary[1], let high = summary[99] else {
            return []
        }
        let limits = Self.limits(from: Double(low), to: Double(high))
        guard let last = limits.last else { return [] }
        var counts = [UInt64](repeating: 0, count: limits.count + 1)
        forEachRecorded { value, count in
            let value = Double(min(max(value, summary.minimum), summary.maximum))
            counts[limits.firstIndex { Self.isWithin(value, $0) } ?? limits.count] &+= count
        }
        var names = limits.map { "≤ \(timeText($0))" } + ["> \(timeText(last))"]
        if counts.last == 0 {
            counts.removeLast()
            names.removeLast()
        }
        let width = columns - Self.columnsBeforeBar
        guard counts.count > 1, width > 0, let most = counts.max() else { return [] }
        return zip(names, counts).map { name, count in
            let share = fixed(Double(count) / Double(summary.count) * 100, 1)
            let bar = Self.bar(Double(count) / Double(most), width: width, isEmpty: count == 0)
            return "  " + left(name, 10) + right(grouped(count), 14) + right(share, 7) + " %"
                + (bar.isEmpty ? "" : "  ") + bar
        }
    }

    /// Room for the name, the number and the share of a row, and for the gaps between them.
    private static let columnsBeforeBar = 37

    /// The histogram keeps three digits: a value that it gives may be a thousandth above the time that was measured.
    private static func isWithin(_ value: Double, _ limit: Double) -> Bool { value <= limit * 1.001 }

    /// The narrowest rows that are not too many. Times below a microsecond count in the first.
    private static func limits(from low: Double, to high: Double) -> [Double] {
        var found: [Double] = []
        for decade in decades {
            var limits: [Double] = []
            var scale = 1_000.0
            while limits.last.map({ !isWithin(high, $0) }) ?? true {
                for limit in decade.map({ $0 * scale }) where isWithin(low, limit) {
                    limits.append(limit)
                    if isWithin(high, limit) { break }
                }
                scale *= 10
            }
            if !found.isEmpty, limits.count > mostRows { break }
            found = limits
        }
        return found
    }

    private static let eighths = Array("▏▎▍▌▋▊▉█")

    /// A bar of eighths of a column. What is not empty has one at least.
    private static func bar(_ share: Double, width: Int, isEmpty: Bool) -> String {
        guard !isEmpty else { return "" }
        let length = max(Int((share * Double(width * 8)).rounded()), 1)
        return String(repeating: "█", count: length / 8) + (length % 8 > 0 ? String(eighths[length % 8 - 1]) : "")
    }
}
