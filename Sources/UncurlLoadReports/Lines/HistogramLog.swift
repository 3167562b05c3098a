import UncurlHTTP1
internal import UncurlLibC
package import UncurlLoad

/// A line of HdrHistogram's interval log, version 1.3: there is one for each interval and tag.
package struct HistogramLog: Sendable {
    var tag: String?
    /// The start after the log's start and the length, in seconds.
    package var start: Double
    package var length: Double
    /// The histogram as the log writes it, which has been checked. It takes a few hundred bytes where its counters take
    /// 270 KB: the log of a long run has more lines than memory has room for counters.
    fileprivate let text: String

    var recorded: RecordedSlots { (try? LatencyHistogram.recorded(hdr: text)) ?? RecordedSlots() }

    package var counters: LatencyHistogram { LatencyHistogram(recorded) }

    /// The divisor with which a log reader converts `Interval_Max` from nanoseconds to milliseconds.
    private static let maximumUnit = 1_000_000.0
    /// The limit on the start and the length of a line, in seconds.
    private static let secondsLimit = 1e9
    /// The most lines: more than a week of seconds with six tags each.
    static let lineLimit = 4_000_000

    package static func head(startedAt: UInt64) -> String {
        let seconds = "\(startedAt / 1_000).\(String(1_000 + startedAt % 1_000).dropFirst())"
        return """
            #[Logged with volley \(PackageVersion.text), nanoseconds]
            #[Histogram log format version 1.3]
            #[StartTime: \(seconds) (seconds since epoch), \(CivilDate.text(milliseconds: startedAt))]
            #[BaseTime: \(seconds) (seconds since epoch)]
            "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"

            """
    }

    /// One line with its line end. An empty histogram has a line too: a gap would look like a broken log.
    package static func line(tag: String, start: UInt64, length: UInt64, _ histogram: LatencyHistogram) -> String {
        let greatest = Double(histogram.maximum ?? 0) / maximumUnit
        return "Tag=\(tag),\(fixed(Double(start) / 1e9, 3)),\(fixed(Double(length) / 1e9, 3)),\(fixed(greatest, 3)),"
            + histogram.hdr + "\n"
    }

    // MARK: Reading

    /// The lines of a log, and its start in milliseconds since 1970, if the log has it.
    package typealias Contents = (startedAt: UInt64?, lines: [HistogramLog])

    package static func read(_ text: String, path: String) throws(UsageError) -> Contents {
        var contents: Contents = (nil, [])
        // By octets: the Character of CR LF is no "\n".
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, octets) in lines.enumerated() {
            let line = octets.last == UInt8(ascii: "\r") ? octets.dropLast() : octets
            if line.starts(with: startWords) {
                let seconds = line.dropFirst(startWords.count).prefix { $0 != UInt8(ascii: " ") }
                contents.startedAt = Double(Substring(seconds)).flatMap { UInt64(exactly: ($0 * 1_000).rounded()) }
            }
            guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "\"") else { continue }
            do throws(UsageError) {
                contents.lines.append(try parse(line))
            } catch {
                throw .logLine(path, number: number + 1, error)
            }
            guard contents.lines.count <= lineLimit else { throw .logTooLong(path, limit: lineLimit) }
        }
        guard !contents.lines.isEmpty else { throw .emptyLog(path) }
        return contents
    }

    private static let startWords = "#[StartTime: ".utf8
    private static let tagWord = "Tag=".utf8

    private static func parse(_ line: Substring.UTF8View) throws(UsageError) -> HistogramLog {
        var octets = line.split(separator: UInt8(ascii: ","), maxSplits: 5, omittingEmptySubsequences: false)
        var tag: String?
        if let first = octets.first, first.starts(with: tagWord) {
            tag = String(Substring(first.dropFirst(tagWord.count)))
            octets.removeFirst()
        }
        let parts = octets.map { Substring($0) }
        guard parts.count == 4, let start = Double(parts[0]), let length = Double(parts[1]),
            (0..<secondsLimit).contains(start), (0..<secondsLimit).contains(length)
        else { throw .truncated }
        _ = try LatencyHistogram.recorded(hdr: parts[3])
        return HistogramLog(tag: tag, start: start, length: length, text: String(parts[3]))
    }
}

extension HistogramLog {
    /// A name for logs, whose tags have neither commas nor spaces.
    static func tag(_ series: String, _ name: String) -> String {
        let scalars = name.unicodeScalars.map { $0 == "," || $0.properties.isWhitespace ? "_" : $0 }
        return series + "." + String(String.UnicodeScalarView(scalars))
    }

    /// The lines of an interval. The main series and each name have a line even where they are empty.
    package static func lines(_ interval: Interval, of plan: RunPlan) -> String {
        let (metrics, work) = (interval.metrics, plan.options.work)
        let series = metrics.series(work).filter { $0.isMain || !$0.histogram.isEmpty }
        let about = metrics.has(.schedule) ? "corrected" : "raw"
        let named = zip(plan.requestNames.all, metrics.names).map { name, metrics in
            (tag: tag(about, name), isMain: false, histogram: metrics.latency)
        }
        return (series + named).reduce(into: "") { text, series in
            text += line(tag: series.tag, start: interval.start, length: interval.length, series.histogram)
        }
    }
}

extension CivilDate {
    /// A point in time for people, without time zones: `2026-11-21T19:47:28Z`.
    static func text(milliseconds: UInt64) -> String {
        let seconds = milliseconds / 1_000
        let date = CivilDate(daysSince1970: Int64(seconds / 86_400))
        let second = Int(seconds % 86_400)
        let time = "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))"
        return "\(date.year)-\(two(date.month))-\(two(date.day))T\(time)Z"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
