import UncurlEngine
import UncurlReactor

/// The limits that are checked once a whole answer has come. The engine's timers tick every 8.4 ms, so an answer may
/// come before they fire and still be late.
struct AnswerLimits: Sendable {
    private let total: UInt64
    private let firstByte: UInt64
    private let connect: UInt64
    /// The least of the limits: an answer within it is within all of them.
    private let least: UInt64

    init(_ plan: RunPlan) {
        total = plan.timeout
        firstByte = plan.limits.firstByte ?? .max
        connect = plan.limits.connect ?? plan.timeout
        least = min(total, firstByte, connect)
    }

    /// Returns a failure if a whole answer came late, or if bytes followed it. Nil for nearly all answers.
    @inline(__always)
    func failure(_ report: ExchangeReport, until end: Instant) -> Failure? {
        guard report.surplus == 0, end.nanoseconds(since: report.timings.start) <= Int64(clamping: least) else {
            return examined(report, until: end)
        }
        return nil
    }

    /// Returns a failure if a connection took longer to open than is allowed.
    func failure(_ record: ConnectionRecord) -> Failure? {
        let (phase, end): (Phase, Instant) =
            record.handshake.end.map { (.tls, $0) } ?? (.connect, record.timings.connectEnd)
        let start = record.timings.lookupStart ?? record.timings.connectStart
        return Self.isBeyond(connect, start, end) ? Failure(phase, .timeout) : nil
    }

    private func examined(_ report: ExchangeReport, until end: Instant) -> Failure? {
        let timings = report.timings
        if !report.reusedConnection, let record = report.connection, let late = failure(record) { return late }
        if let sent = timings.requestEnd, let first = timings.responseStart, Self.isBeyond(firstByte, sent, first) {
            return Failure(.firstByte, .timeout)
        }
        if Self.isBeyond(total, timings.start, end) {
            let isSilent = timings.responseStart.map { Self.isBeyond(total, timings.start, $0) } ?? false
            return Failure(isSilent ? .firstByte : .body, .timeout)
        }
        return report.surplus == 0 ? nil : Failure(.body, .surplus)
    }

    private static func isBeyond(_ limit: UInt64, _ start: Instant, _ end: Instant) -> Bool {
        UInt64(clamping: end.nanoseconds(since: start)) > limit
    }
}
