package import LoadGenerator

/// Merges the interval logs of a run's parts: interval by interval, tag by tag, counter by counter.
package struct LogMerge {
    /// The tags in the order of their first lines.
    package private(set) var tags: [String] = []
    package private(set) var startedAt: UInt64 = 0
    private var intervals: [(start: Double, length: Double, histograms: [String: [EncodedHistogram]])] = []
    package private(set) var totals: [String: LatencyHistogram] = [:]

    package init(_ logs: [(path: String, contents: HistogramLog.Contents)]) throws(ReportError) {
        startedAt = logs.compactMap { $0.contents.startedAt }.min() ?? 0
        for log in logs {
            var place = -1
            var last = -1.0
            for line in log.contents.lines {
                if line.start != last { (place, last) = (place + 1, line.start) }
                try add(line, place, log.path)
            }
        }
    }

    private mutating func add(_ line: HistogramLog.Line, _ place: Int, _ path: String) throws(ReportError) {
        let tag = line.tag ?? "untagged"
        if totals[tag] == nil { tags.append(tag) }
        var total = totals.removeValue(forKey: tag) ?? LatencyHistogram()
        total.merge(line.histogram.recorded)
        guard total.count <= HistogramCodec.countLimit else {
            throw .tooManyValues(path, isLog: true)
        }
        totals[tag] = total
        if place == intervals.count { intervals.append((line.start, line.length, [:])) }
        intervals[place].length = max(intervals[place].length, line.length)
        intervals[place].histograms[tag, default: []].append(line.histogram)
    }

    /// The merged log.
    package var text: String {
        intervals.reduce(into: HistogramLog.head(startedAt: startedAt)) { text, interval in
            for tag in tags {
                guard let histograms = interval.histograms[tag] else { continue }
                text += HistogramLog.line(
                    tag: tag,
                    start: UInt64(max(interval.start, 0) * 1e9),
                    length: UInt64(max(interval.length, 0) * 1e9),
                    histograms.reduce(into: LatencyHistogram()) { $0.merge($1.recorded) }
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
