import UncurlEngine
import UncurlHTTP1
package import UncurlLoad
import UncurlReactor
import UncurlTLS
package import UncurlText

/// The report for programs. ``ReportSchema`` describes it. Times are nanoseconds.
package enum JSONReport {
    package static func text(_ result: RunResult) -> String { document(result).text }

    package static func document(_ result: RunResult) -> JSONTree {
        let metrics = result.metrics
        return .object([
            ("schema", .integer(SavedReport.schema)),
            ("volley", .string(PackageVersion.text)),
            ("run", run(result)),
            ("requests", requests(metrics)),
            ("rate", rate(result)),
            ("statuses", statuses(metrics)),
            ("bytes", bytes(metrics)),
            ("connections", connections(metrics)),
            ("tls", handshakes(metrics.handshakes)),
            (
                "latency",
                .object([
                    ("raw", metrics.success.json), ("http_error", metrics.httpError.json),
                    ("failed", metrics.failure.json), ("first_byte", metrics.firstByte.json),
                    ("connect", metrics.connect.json), ("tls", metrics.tls.json),
                ])
            ),
            ("schedule", SchedulePart.json(result)),
            ("stream", StreamPart.json(result)),
            ("websocket", WebSocketPart.json(result)),
            ("names", NamedReport.json(result)),
            ("errors", .array(metrics.failures.sorted.map(failure))),
            ("threads", .array(result.threads.map { thread($0, result) })),
            ("intervals", .array(result.course.points.map(interval))),
            ("runs", .array(result.runs.map(\.json))),
            ("limits", result.thresholds.json),
            ("failed_limits", .array(result.thresholds.failures.map { .string($0) })),
            ("notes", .array(result.notes.map { .string($0) })),
            ("exit_status", .integer(UInt64(result.verdict.rawValue))),
        ])
    }

    private static func run(_ result: RunResult) -> JSONTree {
        let plan = result.plan
        return .object([
            ("url", .string(plan.url)),
            ("method", .string(plan.request.method)),
            ("body_bytes", .integer(UInt64(plan.request.body?.count ?? 0))),
            ("mode", plan.profile == nil ? "closed-loop" : "open-loop"),
            ("schedule", plan.profile.map { .string($0.description) } ?? .null),
            ("arrivals", plan.profile == nil ? .null : .string(plan.arrivals.rawValue)),
            ("crowd", plan.crowd.map { .string($0.description) } ?? .null),
            ("scenarios", scenarios(plan)),
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

    private static func scenarios(_ plan: RunPlan) -> JSONTree {
        guard let scenarios = plan.scenarios else { return .null }
        return .array(scenarios.all.map { .string($0.name) })
    }

    private static func requests(_ metrics: Metrics) -> JSONTree {
        .object([
            ("sent", .integer(metrics.sent)),
            ("completed", .integer(metrics.completed)),
            ("failed", .integer(metrics.failed)),
            ("in_flight_at_stop", .integer(metrics.inFlight)),
            ("balanced", .bool(metrics.isBalanced)),
            ("succeeded", .integer(metrics.succeeded)),
            ("http_errors", .integer(metrics.httpErrors)),
            ("sent_again", .integer(metrics.sentAgain)),
            ("redirects", .integer(metrics.redirects)),
            ("follow_ups", .integer(metrics.followUps)),
            ("drained", .integer(metrics.drained)),
            ("drained_succeeded", .integer(metrics.drainedSuccesses)),
        ])
    }

    private static func rate(_ result: RunResult) -> JSONTree {
        .object([
            (
                "successes_per_second",
                .number(result.perSecond(result.metrics.succeeded - result.metrics.drainedSuccesses))
            ),
            ("completed_per_second", .number(result.perSecond(result.metrics.doneInTime(.requests)))),
            ("connections_per_second", result.connectionsPerSecond.map { .number($0) } ?? .null),
            ("bytes_in_per_second", .number(result.perSecond(result.metrics.bytesInInTime))),
            ("bytes_out_per_second", .number(result.perSecond(result.metrics.bytesOutInTime))),
        ])
    }

    private static func statuses(_ metrics: Metrics) -> JSONTree {
        .object(
            metrics.statuses.indices.filter { metrics.statuses[$0] > 0 }.map {
                ("\($0)", .integer(metrics.statuses[$0]))
            }
        )
    }

    private static func bytes(_ metrics: Metrics) -> JSONTree {
        .object([
            ("in", .integer(metrics.wireBytesIn)),
            ("in_content", .integer(metrics.bodyBytesIn)),
            ("in_drained", .integer(metrics.drainedBytesIn)),
            ("out", .integer(metrics.wireBytesOut)),
            ("out_content", .integer(metrics.bodyBytesOut)),
            ("out_drained", .integer(metrics.drainedBytesOut)),
        ])
    }

    private static func connections(_ metrics: Metrics) -> JSONTree {
        .object([
            ("opened", .integer(metrics.connectionsOpened)),
            ("failed", .integer(metrics.connectionsFailed)),
            ("in_flight_at_stop", .integer(metrics.connectionsUnfinished)),
            ("stray", .integer(metrics.connectionsStray)),
        ])
    }

    /// The TLS settings of the run; null for http.
    private static func security(_ plan: RunPlan) -> JSONTree {
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

    /// The handshakes of the run; null without any.
    private static func handshakes(_ log: HandshakeLog) -> JSONTree {
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

    private static func interval(_ point: IntervalSeries.Point) -> JSONTree {
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
            ("drained", .integer(point.drained)),
            ("drained_succeeded", .integer(point.drainedSuccesses)),
            ("due", .optional(point.due)),
            ("stolen_ns", .optional(point.stolen)),
            ("statuses", .object(point.statuses.map { ("\($0.code)", .integer($0.count)) })),
            ("latency", point.times.json),
        ])
    }

    private static func failure(_ failure: Failure, _ record: FailureLog.Record) -> JSONTree {
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

    private static func thread(_ thread: RunResult.Thread, _ result: RunResult) -> JSONTree {
        .object([
            ("connections", .integer(UInt64(thread.connections))),
            ("completed", .integer(thread.completed)),
            ("completed_per_second", .number(result.perSecond(thread.completedInTime))),
            ("cpu_ns", .integer(thread.cpuNanoseconds)),
            ("queued_ns", .integer(thread.queuedNanoseconds)),
        ])
    }
}

/// The part of the JSON report about a run with a schedule.
enum SchedulePart {
    /// The part; null without a schedule.
    static func json(_ result: RunResult) -> JSONTree {
        guard let schedule = result.metrics.schedule, let profile = result.plan.profile else { return .null }
        return .object([
            (
                "stages",
                .array(
                    profile.stages.map { stage in
                        .object([
                            ("duration_ns", .integer(stage.duration)),
                            ("from_per_second", .number(stage.from.perSecond)),
                            ("to_per_second", .number(stage.to.perSecond)),
                        ])
                    }
                )
            ),
            ("wanted_per_second", .number(result.perSecond(schedule.due))),
            ("rate_ratio", result.metrics.rateRatio.map { .number($0) } ?? .null),
            ("due", .integer(schedule.due)),
            ("sent", .integer(schedule.sent)),
            ("refused", .integer(schedule.refused)),
            ("unsent", .integer(schedule.unsent)),
            ("delayed", .integer(schedule.delayed)),
            ("corrected", schedule.corrected.json),
            ("without_lag", schedule.unlagged.json),
            ("lag", schedule.lag.json),
            ("wait", schedule.wait.json),
            ("generator_limits", .array(result.generatorLimits.map { .string($0) })),
        ])
    }
}
