import UncurlLoad
import UncurlText

/// The data of the page's plots, for its script. Times are in milliseconds, shares from 0 to 1.
enum HTMLPlots {
    /// The data in one line. `<` is escaped, so that no text ends the element around it.
    static func data(_ report: SavedReport) throws(ReportError) -> String {
        let intervals = report.document["intervals"]?.items ?? []
        var course: [JSONTree] = []
        for point in intervals { course.append(try row(of: point)) }
        let value = JSONTree.object([
            ("curves", .array(try curves(report))),
            ("bars", try bars(report)),
            ("course", .array(course)),
            ("statuses", statuses(intervals)),
            ("unit", .string(report.isHandshakes ? "connections" : "requests")),
        ])
        return value.line().replacingEach("<", by: "\\u003c")
    }

    private static func curves(_ report: SavedReport) throws(ReportError) -> [JSONTree] {
        var curves: [JSONTree] = []
        for figure in HTMLReport.series.prefix(4) {
            guard let histogram = try report.histogram(figure), !histogram.isEmpty else { continue }
            let points = PercentileText.points(histogram).map { point in
                JSONTree.array([.number(point.share), .number(Double(point.value) / 1e6)])
            }
            curves.append(.object([("name", .string(figure.pageTitle ?? "")), ("points", .array(points))]))
        }
        return curves
    }

    /// The distribution of the run's latencies: from, to and count of each bar. The bars are equally wide on a
    /// logarithmic axis, because latencies differ by decades.
    private static func bars(_ report: SavedReport) throws(ReportError) -> JSONTree {
        guard let histogram = try report.headline(), let most = histogram.maximum else { return .array([]) }
        var counts: [Int: UInt64] = [:]
        // Zero has no logarithm, so it counts with the values of up to a microsecond.
        let place = { (value: UInt64) in bar(of: max(value, 1_000)) }
        histogram.forEachRecorded { value, count in counts[place(min(value, most)), default: 0] &+= count }
        return .array(
            counts.sorted { $0.key < $1.key }.map { bar, count in
                .array([.number(edge(bar)), .number(edge(bar + 1)), .integer(count)])
            }
        )
    }

    /// The number of bars per decade.
    private static let barsInDecade = 20

    /// The edges of a decade's bars, from 1 to less than 10. They are constants, so that no logarithm is rounded
    /// differently for a value and for an edge.
    private static let edges: [Double] = (0..<barsInDecade).map { index in
        let tenths = [
            1, 1.122, 1.259, 1.413, 1.585, 1.778, 1.995, 2.239, 2.512, 2.818, 3.162, 3.548, 3.981, 4.467, 5.012, 5.623,
            6.310, 7.079, 7.943, 8.913,
        ]
        return tenths[index]
    }

    private static func bar(of value: UInt64) -> Int {
        var (decade, scale) = (0, 1.0)
        while Double(value) >= scale * 10 { (decade, scale) = (decade + 1, scale * 10) }
        let place = edges.lastIndex { $0 * scale <= Double(value) } ?? 0
        return decade * barsInDecade + place
    }

    /// The edge in milliseconds.
    private static func edge(_ bar: Int) -> Double {
        var value = edges[bar % barsInDecade] / 1e6
        for _ in 0..<bar / barsInDecade { value *= 10 }
        return value
    }

    /// Start and end in seconds, rate (without the answers of the drain), p50, p90, p99, slowest, failed, HTTP errors,
    /// wanted rate (null without a schedule), and an object of the counts by status.
    private static func row(of point: JSONTree) throws(ReportError) -> JSONTree {
        let summary = try point["latency"].flatMap { value throws(ReportError) in
            try SavedReport.histogram(value, "the report")
        }?.summary(percentiles: [50, 90, 99])
        let start = point["start_ns"]?.number ?? 0
        let end = point["end_ns"]?.number ?? 0
        let count = { (name: String) in point[name]?.number ?? 0 }
        let span = max(end - start, 1) / 1e9
        let times = [summary?[50], summary?[90], summary?[99], summary?.maximum].map { value in
            value.map { JSONTree.number(Double($0) / 1e6) } ?? .null
        }
        return .array(
            [.number(start / 1e9), .number(end / 1e9), .number((count("completed") - count("drained")) / span)] + times
                + [
                    .number(count("failed") + count("connects_failed")), .number(count("http_errors")),
                    point["due"]?.number.map { .number($0 / span) } ?? .null,
                    .object((point["statuses"]?.members ?? []).filter { Int($0.0) != nil }),
                ]
        )
    }

    /// All statuses that occur, in order. Reports of an older volley do not have them by interval.
    private static func statuses(_ intervals: [JSONTree]) -> JSONTree {
        let codes = Set(intervals.flatMap { ($0["statuses"]?.members ?? []).compactMap { Int($0.0) } })
        return .array(codes.sorted().map { .string("\($0)") })
    }
}
