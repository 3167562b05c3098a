extension Tally {
    /// One of the histograms, by the tag it has in logs and reports.
    struct Series: Sendable {
        var tag: String
        /// What the run is about.
        var isMain = false
        var histogram: LatencyHistogram
    }

    /// All histograms of times, those that the run is about first.
    func series(_ work: Options.Work) -> [Series] {
        let corrected = schedule.map { [Series(tag: "corrected", isMain: true, histogram: $0.corrected)] } ?? []
        let scheduled =
            schedule.map {
                [Series(tag: "wait", histogram: $0.wait), Series(tag: "lag", histogram: $0.lag)]
            } ?? []
        return corrected + [
            Series(tag: "raw", isMain: work == .requests, histogram: success),
            Series(tag: "http-error", histogram: httpError),
            Series(tag: "failed", histogram: failure),
            Series(tag: "ttfb", histogram: firstByte),
            Series(tag: "connect", histogram: connect),
            Series(tag: "tls", isMain: work == .handshakes, histogram: tls),
        ] + scheduled
    }
}
