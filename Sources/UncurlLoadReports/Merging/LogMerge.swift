package import UncurlLoad

/// Merges the interval logs of a run's parts: by time, tag by tag, counter by counter.
package struct LogMerge {
    package private(set) var startedAt: UInt64 = 0
    private var course = RunCourse<HistogramLog>()
    /// The sum of each tag's lines, in the order of their first lines.
    package private(set) var totals: [(tag: String, histogram: LatencyHistogram)] = []
    private var places: [OctetText: Int] = [:]

    /// The most tags, for each costs a histogram of 270 KB: the 100 names of requests, and the dozen series of a log.
    static let tagLimit = RequestNames.limit + 28

    package init(_ logs: [(path: String, contents: HistogramLog.Contents)]) throws(UsageError) {
        startedAt = logs.compactMap { $0.contents.startedAt }.min() ?? 0
        for log in logs {
            for line in log.contents.lines { try add(line, log.path) }
            course = course.merged(with: Self.course(log.contents.lines))
        }
    }

    private static func course(_ lines: [HistogramLog]) -> RunCourse<HistogramLog> {
        let nanoseconds = { (seconds: Double) in UInt64((max(seconds, 0) * 1e9).rounded()) }
        let starts = Dictionary(grouping: lines, by: \.start).sorted { $0.key < $1.key }
        return starts.reduce(into: RunCourse()) { course, interval in
            let length = interval.value.map(\.length).max() ?? 0
            course.append(
                (nanoseconds(interval.key), nanoseconds(interval.key + length), interval.value)
            )
        }
    }

    private static func tag(_ line: HistogramLog) -> String { line.tag ?? "untagged" }

    private mutating func add(_ line: HistogramLog, _ path: String) throws(UsageError) {
        let tag = Self.tag(line)
        let place = places[OctetText(tag)] ?? totals.count
        if place == totals.count {
            guard place < Self.tagLimit else { throw .tooManyTags(path, limit: Self.tagLimit) }
            places[OctetText(tag)] = place
            totals.append((tag, LatencyHistogram()))
        }
        totals[place].histogram.merge(line.recorded)
        guard totals[place].histogram.count <= LatencyHistogram.countLimit else {
            throw .tooManyValues(path, isLog: true)
        }
    }

    /// The sum of a tag's lines; nil where it has none.
    package func total(_ tag: String) -> LatencyHistogram? { places[OctetText(tag)].map { totals[$0].histogram } }

    package var text: String {
        course.intervals.reduce(into: HistogramLog.head(startedAt: startedAt)) { text, interval in
            let lines = Dictionary(grouping: interval.counts) { places[OctetText(Self.tag($0))] ?? 0 }
            for (place, parts) in lines.sorted(by: { $0.key < $1.key }) {
                text += HistogramLog.line(
                    tag: totals[place].tag,
                    start: interval.start,
                    length: RunCourse.length(interval),
                    parts.reduce(into: LatencyHistogram()) { $0.merge($1.recorded) }
                )
            }
        }
    }

    package var table: String {
        (["Latency     " + columnHeads]
            + totals.compactMap { histogramRow($0.tag, $0.histogram) })
            .joined(separator: "\n") + "\n"
    }
}

/// A run's course: intervals in order, none over another, with the counts of each part of the run. Times are in
/// nanoseconds after the start of the measured part.
struct RunCourse<Counts> {
    typealias Interval = (start: UInt64, end: UInt64, counts: [Counts])

    private(set) var intervals: [Interval] = []

    static func length(_ interval: Interval) -> UInt64 { interval.end - min(interval.start, interval.end) }

    private static func sum(_ first: Interval, _ second: Interval) -> Interval {
        (min(first.start, second.start), max(first.end, second.end), first.counts + second.counts)
    }

    /// Adds an interval at the end. What lies within the intervals before it belongs to the last of these.
    mutating func append(_ interval: Interval) {
        guard let last = intervals.last else { return intervals.append(interval) }
        if interval.end > last.end, last.end > last.start {
            intervals.append((max(interval.start, last.end), interval.end, interval.counts))
        } else {
            intervals[intervals.count - 1] = Self.sum(last, interval)
        }
    }

    /// Merges the course of another part by time. Parts may have different intervals: longer ones where a thread was
    /// held up, and pairs of them in a long run. So a merged interval ends where both parts have an end, not more than
    /// half an interval apart.
    func merged(with other: RunCourse) -> RunCourse {
        var (mine, theirs) = (intervals[...], other.intervals[...])
        var course = RunCourse()
        while var left = mine.popFirst() {
            guard var right = theirs.popFirst() else {
                course.append(left)
                continue
            }
            var shortest = min(Self.length(left), Self.length(right))
            while max(left.end, right.end) - min(left.end, right.end) > shortest / 2 {
                let isMine = left.end < right.end
                guard let next = isMine ? mine.popFirst() : theirs.popFirst() else { break }
                shortest = min(shortest, Self.length(next))
                if isMine { left = Self.sum(left, next) } else { right = Self.sum(right, next) }
            }
            course.append(Self.sum(left, right))
        }
        for interval in theirs { course.append(interval) }
        return course
    }
}
