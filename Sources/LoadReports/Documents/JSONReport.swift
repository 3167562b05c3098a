import HTTPEngine
package import LoadGenerator
import Reactor
import TLS

/// The report for programs; ``ReportSchema`` says what is in it. Times are nanoseconds.
package enum JSONReport {
    package static func text(_ result: RunResult) -> String { document(result).text }

    package static func document(_ result: RunResult) -> JSONValue {
        let tally = result.tally
        return .object([
            ("schema", .integer(SavedReport.schema)),
            ("volley", .string(VolleyVersion.text)),
            ("run", run(result)),
            ("requests", requests(tally)),
            ("rate", rate(result)),
            ("statuses", statuses(tally)),
            ("bytes", bytes(tally)),
            ("connections", connections(tally)),
            ("tls", handshakes(tally.handshakes)),
            (
                "latency",
                .object([
                    ("raw", histogram(tally.success)), ("http_error", histogram(tally.httpError)),
                    ("failed", histogram(tally.failure)), ("first_byte", histogram(tally.firstByte)),
                    ("connect", histogram(tally.connect)), ("tls", histogram(tally.tls)),
                ])
            ),
            ("schedule", SchedulePart.json(result)),
            ("names", NamedReport.json(result)),
            ("errors", .array(tally.failures.sorted.map(failure))),
            ("threads", .array(result.threads.map { thread($0, result) })),
            ("intervals", .array(result.course.points.map(interval))),
            ("runs", .array(result.runs.map(\.json))),
            ("limits", result.gates.json),
            ("failed_limits", .array(result.gates.failures.map { .string($0) })),
            ("notes", .array(result.notes.map { .string($0) })),
            ("exit_status", .integer(UInt64(result.verdict.rawValue))),
        ])
    }

    private static func run(_ result: RunResult) -> JSONValue {
        let plan = result.plan
        return .object([
            ("url", .string(plan.url)),
            ("method", .string(plan.request.method)),
            ("body_bytes", .integer(UInt64(plan.request.body?.count ?? 0))),
            ("mode", plan.profile == nil ? "closed-loop" : "open-loop"),
            ("schedule", plan.profile.map { .string($0.description) } ?? .null),
            ("arrivals", plan.profile == nil ? .null : .string(plan.arrivals.rawValue)),
            ("crowd", plan.crowd.map { .string($0.description) } ?? .null),
            ("think", plan.think.map { .string($0.description) } ?? .null),
            ("drain_ns", .integer(plan.drain)),
            ("max_lag_ns", .optional(plan.profile == nil ? nil : plan.maxLag)),
            ("work", .string(plan.work.rawValue)),
            ("connections", .integer(UInt64(plan.connections))),
            ("threads", .integer(UInt64(plan.threads))),
            ("pipeline", .integer(UInt64(plan.pipeline))),
            ("reuse", .string(plan.reuse.rawValue)),
            ("proxy", plan.proxy.map { .string("\($0)") } ?? .null),
            ("tls", security(plan)),
            ("timeout_ns", .integer(plan.timeout)),
            ("connect_timeout_ns", .optional(plan.limits.connect)),
            ("first_byte_timeout_ns", .optional(plan.limits.firstByte)),
            ("idle_timeout_ns", .optional(plan.limits.idle)),
            ("retry", .bool(plan.retries)),
            ("connection_age_ns", .optional(plan.limits.age?.upperBound)),
            ("sending_bytes_per_second", .optional(plan.limits.sending.map { UInt64($0) })),
            ("receiving_bytes_per_second", .optional(plan.limits.receiving.map { UInt64($0) })),
            ("requests_per_connection", .optional(plan.limits.requests.map { UInt64($0) })),
            ("warmup_ns", .integer(plan.warmup)),
            ("duration_ns", .optional(plan.duration)),
            ("requests", .optional(plan.requests)),
            ("started_unix_ms", .integer(result.startedAt)),
            ("measured_ns", .integer(result.measured)),
            ("interrupted", .bool(result.interrupted)),
        ])
    }

    private static func requests(_ tally: Tally) -> JSONValue {
        .object([
            ("sent", .integer(tally.sent)),
            ("completed", .integer(tally.completed)),
            ("failed", .integer(tally.failed)),
            ("in_flight_at_stop", .integer(tally.inFlight)),
            ("balanced", .bool(tally.isBalanced)),
            ("succeeded", .integer(tally.succeeded)),
            ("http_errors", .integer(tally.httpErrors)),
            ("sent_again", .integer(tally.sentAgain)),
            ("redirects", .integer(tally.redirects)),
            ("drained", .integer(tally.drained)),
            ("drained_succeeded", .integer(tally.drainedSuccesses)),
        ])
    }

    private static func rate(_ result: RunResult) -> JSONValue {
        .object([
            ("successes_per_second", .number(result.perSecond(result.tally.succeeded - result.tally.drainedSuccesses))),
            ("completed_per_second", .number(result.perSecond(result.tally.completed - result.tally.drained))),
            ("connections_per_second", result.connectionsPerSecond.map { .number($0) } ?? .null),
            ("bytes_in_per_second", .number(result.perSecond(result.tally.wireBytesIn))),
            ("bytes_out_per_second", .number(result.perSecond(result.tally.wireBytesOut))),
        ])
    }

    private static func statuses(_ tally: Tally) -> JSONValue {
        .object(
            tally.statuses.indices.filter { tally.statuses[$0] > 0 }.map { ("\($0)", .integer(tally.statuses[$0])) }
        )
    }

    private static func bytes(_ tally: Tally) -> JSONValue {
        .object([
            ("in", .integer(tally.wireBytesIn)),
            ("in_content", .integer(tally.bodyBytesIn)),
            ("out", .integer(tally.wireBytesOut)),
            ("out_content", .integer(tally.bodyBytesOut)),
        ])
    }

    private static func connections(_ tally: Tally) -> JSONValue {
        .object([
            ("opened", .integer(tally.connectionsOpened)),
            ("failed", .integer(tally.connectionsFailed)),
            ("in_flight_at_stop", .integer(tally.connectionsUnfinished)),
            ("stray", .integer(tally.connectionsStray)),
        ])
    }

    /// What was asked for; null for http.
    private static func security(_ plan: RunPlan) -> JSONValue {
        guard let configuration = plan.security.target?.configuration else { return .null }
        return .object([
            ("verified", .bool(configuration.verification == .full)),
            ("server_name", .string(plan.security.serverName ?? plan.origin?.host ?? "")),
            ("client_certificate", .bool(configuration.identity != nil)),
            ("resumption", .bool(configuration.resumes)),
            ("minimum", .string("\(configuration.minimumVersion)")),
            ("maximum", .string("\(configuration.maximumVersion)")),
        ])
    }

    /// What came of it; null without a handshake.
    private static func handshakes(_ log: HandshakeLog) -> JSONValue {
        guard let share = log.resumedShare else { return .null }
        return .object([
            ("handshakes", .integer(log.count)),
            ("full", .integer(log.full)),
            ("resumed", .integer(log.resumed)),
            ("resumed_share", .number(share)),
            (
                "agreements",
                .array(
                    log.sorted.map { agreement, count in
                        .object([
                            ("version", .string("\(agreement.version)")),
                            ("cipher_suite", .string(agreement.cipherSuite)),
                            ("count", .integer(count)),
                        ])
                    }
                )
            ),
        ])
    }

    static func histogram(_ values: LatencyHistogram) -> JSONValue {
        guard let summary = values.summary() else { return nil }
        return .object([
            ("count", .integer(summary.count)),
            ("over_range", .integer(summary.clamped)),
            ("min", .integer(summary.minimum)),
            ("mean", .number(summary.mean)),
            ("stdev", .number(summary.deviation)),
            ("max", .integer(summary.maximum)),
            ("percentiles", .object(summary.percentiles.map { ($0.name, .integer($0.value)) })),
            ("sum", .integer(values.sum)),
            ("hdr", .string(HistogramCodec.text(values))),
        ])
    }

    private static func interval(_ point: IntervalSeries.Point) -> JSONValue {
        .object([
            ("start_ns", .integer(point.start)),
            ("end_ns", .integer(point.end)),
            ("completed", .integer(point.completed)),
            ("successes", .integer(point.successes)),
            ("http_errors", .integer(point.httpErrors)),
            ("failed", .integer(point.failed)),
            ("connects_failed", .integer(point.connectionsFailed)),
            ("sent_again", .integer(point.sentAgain)),
            ("bytes_in", .integer(point.bytesIn)),
            ("latency", histogram(point.times)),
        ])
    }

    private static func failure(_ failure: Failure, _ record: FailureLog.Record) -> JSONValue {
        .object([
            ("phase", .string(failure.phase.rawValue)),
            ("class", .string(failure.kind.rawValue)),
            ("errno", failure.errno == 0 ? .null : .integer(UInt64(failure.errno.magnitude))),
            ("errno_name", failure.errno == 0 ? .null : .string(Errno(code: failure.errno).name)),
            ("detail", .string(failure.detail)),
            ("count", .integer(record.count)),
            ("first_ns", .integer(record.first)),
            ("last_ns", .integer(record.last)),
            ("example", .string(record.example)),
        ])
    }

    private static func thread(_ thread: RunResult.Thread, _ result: RunResult) -> JSONValue {
        .object([
            ("connections", .integer(UInt64(thread.connections))),
            ("completed", .integer(thread.completed)),
            ("completed_per_second", .number(result.perSecond(thread.completed))),
            ("cpu_ns", .integer(thread.cpuNanoseconds)),
            ("queued_ns", .integer(thread.queuedNanoseconds)),
        ])
    }
}
