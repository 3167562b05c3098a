import HTTPEngine
import Reactor

/// The log of single requests, where one is kept.
extension Worker {
    /// - Parameter due: when the schedule wanted it.
    func logAnswer(_ report: ExchangeReport, sent: Instant, latency: UInt64, firstByte: UInt64, due: Instant? = nil) {
        guard let log else { return }
        log.add(
            RequestRecord(
                due: due.map { sinceBegin($0) },
                start: sinceBegin(sent),
                latency: latency,
                firstByte: firstByte,
                status: report.status ?? 0,
                bytesIn: report.bytesReceived,
                isNewConnection: !report.reusedConnection,
                isSentAgain: report.retried
            )
        )
    }

    /// - Parameter sent: nil where no connection came about.
    func logFailure(_ failure: Failure, _ report: ExchangeReport, sent: Instant?, latency: UInt64, due: Instant? = nil)
    {
        guard let log else { return }
        log.add(
            RequestRecord(
                due: due.map { sinceBegin($0) },
                start: sinceBegin(sent ?? report.timings.start),
                latency: latency,
                status: 0,
                bytesIn: report.bytesReceived,
                isNewConnection: !report.reusedConnection,
                isSentAgain: report.retried,
                failure: failure
            )
        )
    }
}
