package import LoadGenerator

/// A histogram as a log writes it, which has been checked. It takes a few hundred bytes where its counters take 270 KB:
/// the log of a long run has more lines than memory has room for counters.
package struct EncodedHistogram: Sendable {
    private let text: String

    init(checking text: Substring) throws(HistogramError) {
        _ = try HistogramCodec.recorded(text: text)
        self.text = String(text)
    }

    /// The highest value and the count of every slot that counted a value.
    var recorded: [(value: UInt64, count: UInt64)] { (try? HistogramCodec.recorded(text: text)) ?? [] }

    package var counters: LatencyHistogram { LatencyHistogram(recorded) }
}
