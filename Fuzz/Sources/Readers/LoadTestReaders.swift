@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import UncurlText

/// What the load tester reads: patterns, figures of other programs, a Locust master's words.
extension Reader {
    static let loadTests = [
        Reader("pattern", of: "UncurlLoad/Scenarios/BytePattern", pattern),
        Reader(
            "json-pointer",
            of: "UncurlLoad/Text/JSONPointer",
            text: { text in
                guard let pointer = JSONPointer(text) else { return }
                require(JSONPointer(pointer.description) == pointer, "a pointer is written as it was read")
                _ = pointer.value(in: document)
            }
        ),
        Reader(
            "template-value",
            of: "UncurlLoad/Requests/Template",
            rest: "the lines of a file",
            text: { text in
                // Those of a file read the file.
                if !has(text, "line") { _ = (try? TemplateValue(text))?.isNumbered }
            }
        ),
        Reader(
            "rate",
            of: "UncurlLoad/Schedule/Rate",
            text: { text in
                guard let rate = try? Rate(text, for: "the rate") else { return }
                require(rate.units > 0 && rate <= Rate.highest, "a rate is within its limits")
                require(Rate(nearest: rate.perSecond) <= Rate.highest, "so is the one nearest to it")
                _ = rate.description
            }
        ),
        Reader(
            "target-url",
            of: "UncurlLoad/Requests/RequestDescription",
            text: { text in
                guard let url = try? TargetURL(text) else { return }
                _ = (url.isSecure, url.port)
                require(!holdsLineEnd(url.target + url.hostField), "a target is one line: \(text)")
            }
        ),
        Reader("histogram", of: "UncurlLoad/Histograms/HistogramCodec", histogram),
        Reader(
            "histogram-log",
            of: "UncurlLoadReports/Lines/HistogramLog",
            rest: "what a run writes",
            text: { text in
                guard let log = try? HistogramLog.read(text, path: "log") else { return }
                // Each line written takes 270 KB of counters for a moment.
                let lines = log.lines.prefix(32).map {
                    HistogramLog.line(tag: $0.tag ?? "", start: 0, length: 1, $0.counters)
                }
                let written = HistogramLog.head(startedAt: min(log.startedAt ?? 0, 1 << 45)) + lines.joined()
                let again = try? HistogramLog.read(written, path: "log")
                require(again?.lines.count == lines.count, "a log is written as it was read")
            }
        ),
        Reader("metrics", of: "UncurlLoad/Metrics/MetricsCodec") { octets in
            guard let read = (try? JSONReader.read(octets)).flatMap({ Metrics.decode($0) }) else { return }
            let written = Metrics.encode(read)
            let again = Metrics.decode(written).map { Metrics.encode($0) }
            require(again == written, "counts are written as they were read")
        },
        Reader("saved-report", of: "UncurlLoadReports/Documents/SavedReport") { octets in
            guard let tree = try? JSONReader.read(octets), let report = try? SavedReport(tree, path: "report") else {
                return
            }
            _ = try? report.headline()
            _ = try? report.intervals()
            _ = report.rate
        },
        Reader("message-pack", of: "UncurlLocust/Wire/MessagePack", messagePack),
        Reader("zmtp", of: "UncurlLocust/Wire/ZMTP", zmtp),
    ]

    /// What pointers point into.
    private static let document = JSONTree.object([
        ("a", .array([.integer(1), .object([("b", .null)])])), ("", .string("empty")),
    ])

    /// What stands before the first line's end is a pattern, the rest is matched: in time that grows with their
    /// product. Counts in braces multiply the pattern, so that its text is shorter.
    private static func pattern(_ octets: [UInt8]) {
        let parts = octets.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
        guard let pattern = try? BytePattern(String(decoding: parts[0].prefix(64), as: UTF8.self)) else { return }
        let limit = parts[0].contains(UInt8(ascii: "{")) ? 512 : 4_096
        _ = pattern.first(in: parts.count > 1 ? Array(parts[1].prefix(limit)) : [])
    }

    private static func histogram(_ octets: [UInt8]) {
        _ = try? LatencyHistogram(hdr: String(decoding: octets, as: UTF8.self))
        guard let read = try? LatencyHistogram(encoded: octets) else { return }
        let written = read.encoded
        let again = (try? LatencyHistogram(encoded: written)).map { $0.encoded }
        require(again == written, "a histogram is written as it was read")
    }

    private static func messagePack(_ octets: [UInt8]) {
        guard let value = try? MessagePack(decoding: octets) else { return }
        _ = try? LocustSpawn(value)
        require((try? MessagePack(decoding: value.encoded)) != nil, "what was read can be written and read")
    }

    private static func zmtp(_ octets: [UInt8]) {
        guard let first = octets.first else { return }
        var reader = ZMTP()
        let length = Int(first) + 1
        let stream = octets.dropFirst()
        for start in stride(from: stream.startIndex, to: stream.endIndex, by: length) {
            reader.append(stream[start..<min(start + length, stream.endIndex)])
            do {
                while try reader.next() != nil {}
            } catch {
                return
            }
        }
    }
}
