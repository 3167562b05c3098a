/// The additional counts of a run with a schedule: requests by when they were due.
///
/// Once the run has ended, every request that came due was sent, or is in ``refused`` or ``unsent``.
package struct ScheduleMetrics: Sendable {
    /// Requests whose instant came within the measured part.
    package var due: UInt64 = 0
    /// Of these, those that got no connection until the end, drain included.
    package var unsent: UInt64 = 0
    /// Of these, those whose connection could not be opened.
    package var refused: UInt64 = 0
    /// Of these, those that found every connection busy, or none open yet, and had to wait.
    package var delayed: UInt64 = 0

    /// From the instant a request was due to the last byte of its response: the time that a user would have waited,
    /// whatever its cause. It has successes; and requests that timed out, were in flight at the end, or were never
    /// sent, with the time that they had waited so far. That time is too short, but without these requests the slowest
    /// would be missing.
    package var corrected = LatencyHistogram()
    /// The same without ``lag``: the figures if volley had been on time.
    package var unlagged = LatencyHistogram()
    /// From the instant a request was due to the instant volley noticed it. This is volley's own lateness; the wait for
    /// a connection is not part of it.
    package var lag = LatencyHistogram()
    /// The time from the instant a request was due to its first byte sent: lag, the wait for a connection, a connect.
    package var wait = LatencyHistogram()

    /// Of ``due``, those whose first byte was sent. Each is in ``wait``.
    package var sent: UInt64 { wait.count }
    /// Whether every request that came due was sent, refused or left unsent. True once the run has ended.
    package var isBalanced: Bool { due == sent &+ refused &+ unsent }

    package func merged(with other: ScheduleMetrics) -> ScheduleMetrics {
        var sum = self
        sum.due &+= other.due
        sum.unsent &+= other.unsent
        sum.refused &+= other.refused
        sum.delayed &+= other.delayed
        sum.corrected.merge(other.corrected)
        sum.unlagged.merge(other.unlagged)
        sum.lag.merge(other.lag)
        sum.wait.merge(other.wait)
        return sum
    }
}
