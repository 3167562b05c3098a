extension Metrics {
    /// One of the histograms, with its tag in logs and reports.
    package struct Series: Sendable {
        package var tag: String
        /// Whether the histogram has the times that the run is about.
        package var isMain = false
        package var histogram: LatencyHistogram

        package init(tag: String, isMain: Bool = false, histogram: LatencyHistogram) {
            (self.tag, self.isMain, self.histogram) = (tag, isMain, histogram)
        }
    }

    /// Returns all histograms of times, those that the run is about first.
    package func series(_ work: LoadKind) -> [Series] {
        let corrected = schedule.map { [Series(tag: "corrected", isMain: true, histogram: $0.corrected)] } ?? []
        let scheduled =
            schedule.map {
                [Series(tag: "wait", histogram: $0.wait), Series(tag: "lag", histogram: $0.lag)]
            } ?? []
        let streamed =
            stream.map {
                [
                    Series(tag: "event", histogram: schedule == nil ? $0.first : $0.correctedFirst),
                    Series(tag: "gap", histogram: $0.gaps),
                ]
            } ?? []
        let opened = webSocket.map { [Series(tag: "open", histogram: $0.open)] } ?? []
        return corrected + [
            Series(tag: "raw", isMain: work == .requests, histogram: success),
            Series(tag: "http-error", histogram: httpError),
            Series(tag: "failed", histogram: failure),
            Series(tag: "ttfb", histogram: firstByte),
            Series(tag: "connect", histogram: connect),
            Series(tag: "tls", isMain: work == .handshakes, histogram: tls),
        ] + streamed + opened + scheduled
    }
}
