/// Intervals as comma-separated values, a line each: counts as they are, times in milliseconds.
enum IntervalCSV {
    static let head =
        "start_s,length_s,completed,successes,http_errors,failed,connects_failed,sent_again,per_second,bytes_in,bytes_out,"
        + "connections_opened,p50_ms,p90_ms,p99_ms,p99_9_ms,max_ms,mean_ms\n"

    static func line(_ interval: Interval, of work: Options.Work) -> String {
        let tally = interval.tally
        let counts: [UInt64] = [
            tally.done(work), tally.succeeded, tally.httpErrors, tally.failed, tally.connectionsFailed,
            tally.sentAgain,
        ]
        let summary = tally.headline(work).summary(percentiles: [50, 90, 99, 99.9])
        let times = (summary?.percentiles.map { milliseconds(Double($0.value)) } ?? ["", "", "", ""])
        let cells =
            [fixed(Double(interval.start) / 1e9, 3), fixed(Double(interval.length) / 1e9, 3)]
            + counts.map { String($0) }
            + [fixed(interval.perSecond(tally.done(work)), 2)]
            + [tally.wireBytesIn, tally.wireBytesOut, tally.connectionsOpened].map { String($0) }
            + times
            + [
                summary.map { milliseconds(Double($0.maximum)) } ?? "", summary.map { milliseconds($0.mean) } ?? "",
            ]
        return cells.joined(separator: ",") + "\n"
    }

    private static func milliseconds(_ nanoseconds: Double) -> String { fixed(nanoseconds / 1e6, 6) }
}
