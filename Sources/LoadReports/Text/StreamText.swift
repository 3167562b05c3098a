import LoadGenerator

/// The part of the report for people about a run of streams.
enum StreamText {
    static func counts(_ stream: StreamMetrics, _ result: RunResult) -> [String] {
        let stall = Units.time(result.plan.stream?.stall ?? 0)
        return [
            TextReport.row(
                "Events",
                "\(grouped(stream.events)), \(fixed(result.perSecond(stream.events), 2))/s; "
                    + "\(grouped(stream.stalls)) gaps of more than \(stall); \(grouped(stream.silent)) streams without an event"
            )
        ]
    }
}
