package import LoadGenerator

/// Merges the interval logs of a run's parts: by time, tag by tag, counter by counter.
package struct LogMerge {
    /// The tags in the order of their first lines.
    package private(set) var tags: [String] = []
    package private(set) var startedAt: UInt64 = 0
    private var course = Course<HistogramLog.Line>()
    package private(set) var totals: [String: LatencyHistogram] = [:]

    package init(_ logs: [(path: String, contents: HistogramLog.Contents)]) throws(ReportError) {
        startedAt = logs.compactMap { $0.contents.startedAt }.min() ?? 0
        for log in logs {
            for line in log.contents.lines { try add(line, log.path) }
            course = course.merged(with: Self.course(log.contents.lines))
        }
    }

    private static func course(_ lines: [HistogramLog.Line]) -> Course<HistogramLog.Line> {
        let nanoseconds = { (seconds: Double) in UInt64((max(seconds, 0) * 1e9).rounded()) }
        let starts = Dictionary(grouping: lines, by: \.start).sorted { $0.key < $1.key }
        return starts.reduce(into: Course()) { course, interval in
            let length = interval.value.map(\.length).max() ?? 0
            course.append(
                Course.Interval(
                    start: nanoseconds(interval.key),
                    end: nanoseconds(interval.key + length),
                    counts: interval.value
                )
            )
        }
    }

    private static func tag(_ line: HistogramLog.Line) -> String { line.tag ?? "untagged" }

    private mutating func add(_ line: HistogramLog.Line, _ path: String) throws(ReportError) {
        let tag = Self.tag(line)
        if totals[tag] == nil { tags.append(tag) }
        var total = totals.removeValue(forKey: tag) ?? LatencyHistogram()
        total.merge(line.histogram.recorded)
        guard total.count <= HistogramCodec.countLimit else {
            throw .tooManyValues(path, isLog: true)
        }
        totals[tag] = total
    }

    /// The merged log.
    package var text: String {
        course.intervals.reduce(into: HistogramLog.head(startedAt: startedAt)) { text, interval in
            let lines = Dictionary(grouping: interval.counts, by: Self.tag)
            for tag in tags {
                guard let parts = lines[tag] else { continue }
                text += HistogramLog.line(
                    tag: tag,
                    start: interval.start,
                    length: interval.length,
                    parts.reduce(into: LatencyHistogram()) { $0.merge($1.histogram.recorded) }
                )
            }
        }
    }

    /// A table of the merged log, one row per tag.
    package var table: String {
        (["Latency     " + TextReport.columnHeads]
            + tags.compactMap { tag in totals[tag].flatMap { TextReport.histogramRow(tag, $0) } })
            .joined(separator: "\n") + "\n"
    }
}
