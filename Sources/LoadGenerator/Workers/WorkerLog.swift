import HTTPEngine
import Reactor

/// The log of single requests, where one is kept.
extension Worker {
    /// - Parameter user: whose request it was; nil where all send the same.
    func logAnswer(
        _ report: ExchangeReport,
        _ user: VirtualUser? = nil,
        sent: Instant,
        latency: UInt64,
        firstByte: UInt64
    ) {
        guard let log else { return }
        log.add(
            RequestRecord(
                due: due(user),
                start: sinceBegin(sent),
                latency: latency,
                firstByte: firstByte,
                status: report.status ?? 0,
                bytesIn: report.bytesReceived,
                isNewConnection: !report.reusedConnection,
                isSentAgain: report.retried,
                name: user?.name
            )
        )
    }

    /// - Parameter sent: nil where no connection came about.
    func logFailure(
        _ failure: Failure,
        _ report: ExchangeReport,
        _ user: VirtualUser? = nil,
        sent: Instant?,
        latency: UInt64
    ) {
        guard let log else { return }
        log.add(
            RequestRecord(
                due: due(user),
                start: sinceBegin(sent ?? report.timings.start),
                latency: latency,
                status: 0,
                bytesIn: report.bytesReceived,
                isNewConnection: !report.reusedConnection,
                isSentAgain: report.retried,
                name: user?.name,
                failure: failure
            )
        )
    }

    /// When the schedule wanted it.
    private func due(_ user: VirtualUser?) -> UInt64? {
        guard plan.profile != nil, let user else { return nil }
        return sinceBegin(user.due)
    }
}
