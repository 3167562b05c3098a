package import UncurlLoad

/// A histogram as a log writes it, which has been checked. It takes a few hundred bytes where its counters take 270 KB:
/// the log of a long run has more lines than memory has room for counters.
package struct EncodedHistogram: Sendable {
    private let text: String

    init(checking text: Substring) throws(HistogramError) {
        _ = try HistogramCodec.recorded(text: text)
        self.text = String(text)
    }

    /// The slots that counted a value.
    var recorded: RecordedSlots { (try? HistogramCodec.recorded(text: text)) ?? RecordedSlots() }

    package var counters: LatencyHistogram { LatencyHistogram(recorded) }
}
