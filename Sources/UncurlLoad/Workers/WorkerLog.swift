import UncurlEngine
import UncurlReactor

/// The log of single requests, where one is kept.
extension Worker {
    /// - Parameter user: The user whose request it was. Nil where all send the same.
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
                name: user?.name,
                isOfWarmUp: isOfWarmUp(user)
            )
        )
    }

    /// - Parameter sent: The time of the first byte sent. Nil without a connection.
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
                failure: failure,
                isOfWarmUp: isOfWarmUp(user)
            )
        )
    }

    /// Logs a message on a WebSocket.
    ///
    /// - Parameter failure: Nil if the message was answered.
    func logMessage(_ failure: Failure?, _ user: VirtualUser, latency: UInt64) {
        guard let log else { return }
        log.add(
            RequestRecord(
                due: due(user),
                start: sinceBegin(user.said),
                latency: latency,
                status: 0,
                isNewConnection: user.messages == 1,
                name: user.name,
                failure: failure,
                isOfWarmUp: isOfWarmUp(user)
            )
        )
    }

    private func isOfWarmUp(_ user: VirtualUser?) -> Bool {
        if plan.profile != nil, let user, let driver { driver.isOfWarmUp(user) } else { isWarmingUp }
    }

    /// The instant at which the request was due, in nanoseconds after the start of the run. Nil without a schedule, and
    /// for a request that followed another.
    private func due(_ user: VirtualUser?) -> UInt64? {
        guard plan.profile != nil, let user, user.hasDueRequest else { return nil }
        return sinceBegin(user.due)
    }
}
