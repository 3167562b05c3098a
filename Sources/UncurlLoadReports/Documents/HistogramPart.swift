import UncurlLoad
import UncurlText

extension LatencyHistogram {
    /// The counters and the exact figures; null where nothing was counted.
    var json: JSONTree {
        guard let summary = summary() else { return nil }
        return .object([
            ("count", .integer(summary.count)),
            ("over_range", .integer(summary.clamped)),
            ("min", .integer(summary.minimum)),
            ("mean", .number(summary.mean)),
            ("stdev", .number(summary.deviation)),
            ("max", .integer(summary.maximum)),
            ("percentiles", .object(summary.percentiles.map { ($0.name, .integer($0.value)) })),
            ("sum", .integer(sum)),
            ("hdr", .string(HistogramCodec.text(self))),
        ])
    }
}
