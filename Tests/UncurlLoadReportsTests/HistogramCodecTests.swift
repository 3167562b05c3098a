import LoadTestSupport
import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports

@Suite(.ownThread)
struct HistogramCodecTests {
    private func sample(_ values: [UInt64]) -> LatencyHistogram {
        values.reduce(into: LatencyHistogram()) { $0.record($1) }
    }

    private func counters(_ histogram: LatencyHistogram) -> [UInt64: UInt64] {
        var found: [UInt64: UInt64] = [:]
        histogram.forEachRecorded { value, count in found[value, default: 0] += count }
        return found
    }

    @Test(
        "what is encoded is decoded counter for counter",
        arguments: [
            [], [1], [0], [0, 1, 2, 3], [2_047, 2_048, 2_049], [1_000_000, 1_000_000, 45_678],
            [LatencyHistogram.highest],
            [5, 700_000_000, 3_599_000_000_000, 12_345_678],
        ] as [[UInt64]]
    )
    func roundTrip(values: [UInt64]) throws {
        let histogram = sample(values)
        #expect(try counters(LatencyHistogram(encoded: histogram.encoded)) == counters(histogram))
        let text = histogram.hdr
        #expect(text.hasPrefix("HISTFAAA"))
        #expect(try counters(LatencyHistogram(hdr: text)) == counters(histogram))
    }

    @Test("counts of any size survive, in nine bytes at most")
    func counts() throws {
        var histogram = LatencyHistogram()
        histogram.record(77, count: 1 << 52)
        histogram.record(99, count: 300)
        #expect(try counters(LatencyHistogram(encoded: histogram.encoded)) == [77: 1 << 52, 99: 300])
    }

    @Test("the layout is HdrHistogram's: three digits from 1 to an hour in nanoseconds")
    func layout() throws {
        let layout = HistogramLayout.latency
        #expect(layout.index(of: 2_047) == 2_047)
        #expect(layout.index(of: 2_048) == 2_048)
        #expect(layout.index(of: 2_049) == 2_048)
        #expect(layout.values(at: 2_048) == 2_048...2_049)
        #expect(layout.values(at: layout.index(of: LatencyHistogram.highest)).contains(LatencyHistogram.highest))
        let microseconds = try #require(HistogramLayout(checking: 1_000, highest: 3_600_000_000_000, digits: 2))
        #expect(microseconds.values(at: microseconds.index(of: 5_000)).contains(5_000))
        #expect(HistogramLayout(checking: 0, highest: 10, digits: 3) == nil)
        #expect(HistogramLayout(checking: 1, highest: 10, digits: 6) == nil)
        #expect(HistogramLayout(checking: 1 << 62, highest: .max, digits: 5) == nil)
    }

    @Test("what is no histogram is refused by its reason")
    func broken() throws {
        let good = sample([1, 1_000, 1_000_000]).encoded
        #expect(throws: UsageError.notBase64) { try LatencyHistogram(hdr: "HISTF") }
        #expect(throws: UsageError.notBase64) { try LatencyHistogram(hdr: "§§§") }
        #expect(throws: UsageError.truncated) { try LatencyHistogram(hdr: "") }
        #expect(throws: UsageError.unknownEncoding(0x1C84_9301)) {
            try LatencyHistogram(encoded: [0x1C, 0x84, 0x93, 0x01] + good.dropFirst(4))
        }
        #expect(throws: UsageError.normalized) {
            var bytes = good
            bytes[11] = 1
            _ = try LatencyHistogram(encoded: bytes)
        }
        #expect(throws: UsageError.impossibleLayout) {
            var bytes = good
            bytes[15] = 9
            _ = try LatencyHistogram(encoded: bytes)
        }
        for count in 0..<good.count {
            #expect(throws: UsageError.self) { try LatencyHistogram(encoded: Array(good.prefix(count))) }
        }
        // A run of zeros beyond the layout, and counts that no run has.
        var beyond = good.prefix(40) + [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]
        beyond[7] = 5
        #expect(throws: UsageError.countsOutOfRange) { try LatencyHistogram(encoded: Array(beyond)) }
        let huge: [UInt8] = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        var sum = Array(good.prefix(40)) + huge + huge + huge
        sum[7] = 27
        #expect(throws: UsageError.countsOutOfRange) { try LatencyHistogram(encoded: sum) }
    }

    @Test("a log whose lines end in CR LF has the lines of one with LF alone")
    func lineEnds() throws {
        let log =
            HistogramLog.head(startedAt: 1_760_000_000_123)
            + HistogramLog.line(tag: "raw", start: 0, length: 1_000_000_000, sample([5, 7]))
            + HistogramLog.line(tag: "raw", start: 1_000_000_000, length: 1_000_000_000, sample([9]))
        let usual = try HistogramLog.read(log, path: "p")
        let other = try HistogramLog.read(log.replacingEach("\n", by: "\r\n"), path: "p")
        #expect(other.startedAt == usual.startedAt && other.lines.count == 2)
        for (line, same) in zip(other.lines, usual.lines) {
            #expect(line.tag == same.tag && line.start == same.start && line.length == same.length)
            #expect(counters(line.counters) == counters(same.counters))
        }
    }

    @Test("no byte of a damaged histogram makes the decoder trap")
    func damaged() {
        let good = sample([1, 3, 1_000, 1_000_000, 70_000_000_000]).encoded
        for index in good.indices {
            for bit in 0..<8 {
                var bytes = good
                bytes[index] ^= 1 << bit
                _ = try? LatencyHistogram(encoded: bytes)
            }
        }
    }

    @Test("a stream that unpacks to a thousand times its size is refused, and none that is written is")
    func regular() throws {
        // A histogram of five digits, of which 200,000 counters in a row have counted one value.
        let text =
            "HISTFAAAAPV42u3IsRGAIBAAwRfH0IiUXqQ4OqBROtCAb8B8N7mZa2PWOO8e25U93vSsPQoAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAA8NsHkp8lng=="
        #expect {
            try LatencyHistogram.recorded(hdr: text)
        } throws: { error in
            "\(error)".hasPrefix("it unpacks to more than")
        }
        var histogram = LatencyHistogram()
        let layout = HistogramLayout.latency
        for index in 0..<layout.count { histogram.record(layout.values(at: index).lowerBound) }
        #expect(try counters(LatencyHistogram(hdr: histogram.hdr)) == counters(histogram))
    }

    @Test("counters of five digits are added up in slots of three, with their exact sum")
    func finer() throws {
        // 40 octets of a head, and then a counter of 1 for each value below 200,000.
        var bytes = sample([1]).encoded.prefix(40) + [UInt8](repeating: 2, count: 200_000)
        bytes.replaceSubrange(4..<8, with: [0, 3, 0x0D, 0x40])
        bytes[15] = 5
        let histogram = try LatencyHistogram(encoded: Array(bytes))
        let exact = sample(Array(0..<200_000))
        #expect(counters(histogram) == counters(exact))
        #expect(histogram.sum == exact.sum && histogram.minimum == 0 && histogram.maximum == 199_999)
    }

    @Test("exact figures are put back where a report has them")
    func exact() {
        for values in [[5], [1_000_001], [1_000_001, 9_000_077], [3_000_001, 3_000_002, 3_000_003]] as [[UInt64]] {
            let histogram = sample(values)
            let decoded = (try? LatencyHistogram.recorded(hdr: histogram.hdr)) ?? RecordedSlots()
            let exact = decoded.with(
                minimum: values.min() ?? 0,
                maximum: values.max() ?? 0,
                sum: histogram.sum,
                clamped: 0
            )
            let back = LatencyHistogram(exact)
            #expect(back.summary() == histogram.summary(), "\(values)")
            #expect(exact.summary(percentiles: [50, 99]) == histogram.summary(percentiles: [50, 99]), "\(values)")
            #expect(counters(back) == counters(histogram), "\(values)")
        }
    }

    @Test(
        "the PyPI library decodes it, and the interval log, to the same counters",
        .enabled(if: Python.isInstalled, Comment(rawValue: Python.reason))
    )
    func independent() throws {
        let values = (1...20_000).map { UInt64($0) * UInt64($0) * 7 }
        let histogram = sample(values)
        let interval = Interval(start: 1_000_000_000, end: 2_000_000_000, metrics: Metrics())
        let log =
            HistogramLog.head(startedAt: 1_760_000_000_123)
            + HistogramLog.line(tag: "raw", start: interval.start, length: interval.length, histogram)
        let file = TemporaryFile(Array(log.utf8))
        let script = """
            import sys
            from hdrh.log import HistogramLogReader
            from hdrh.histogram import HdrHistogram
            target = HdrHistogram(1, 3600000000000, 3)
            reader = HistogramLogReader(sys.argv[1], target)
            read = reader.get_next_interval_histogram()
            assert read.get_tag() == "raw", read.get_tag()
            print(read.get_total_count(), read.get_start_time_stamp(), read.get_end_time_stamp())
            print(" ".join(f"{i.value_iterated_to}:{i.count_added_in_this_iter_step}" for i in read.get_recorded_iterator()))
            print(reader.get_next_interval_histogram())
            """
        let ended = try Python.run(script, file.path)
        #expect(ended.status == 0, "\(ended.err)")
        let lines = ended.out.split(separator: "\n")
        try #require(lines.count == 3, "\(ended.out) \(ended.err)")
        #expect(lines[0] == "20000 1760000001123.0 1760000002123.0")
        var expected: [String] = []
        histogram.forEachRecorded { value, count in expected.append("\(value):\(count)") }
        #expect(lines[1].split(separator: " ").map(String.init) == expected)
        #expect(lines[2] == "None")
    }
}
