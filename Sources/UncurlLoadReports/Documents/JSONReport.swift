import UncurlEngine
import UncurlHTTP1
package import UncurlLoad
import UncurlReactor
import UncurlTLS
package import UncurlText

extension RunResult {
    /// The report for programs, which ``SavedReport/schemaText`` describes. Times are nanoseconds.
    package var json: JSONTree {
        .object([
            ("schema", .integer(SavedReport.schema)),
            ("volley", .string(PackageVersion.text)),
            ("run", .object(RunSetting.all.map { ($0.name, json($0)) })),
            ("requests", json(.requests)),
            ("rate", json(.rate)),
            ("statuses", .object(metrics.seenStatuses.map { ("\($0.code)", .integer($0.count)) })),
            ("bytes", json(.bytes)),
            ("connections", json(.connections)),
            ("tls", metrics.handshakes.json),
            ("latency", json(.latency)),
            ("schedule", scheduleJSON),
            ("stream", streamJSON),
            ("websocket", webSocketJSON),
            ("names", namesJSON),
            ("errors", .array(metrics.failures.sorted.map { $0.failure.json($0.record) })),
            ("threads", .array(threads.map(json))),
            ("intervals", .array(course.points.map(\.json))),
            ("runs", .array(runs.map(\.json))),
            ("limits", thresholds.json),
            ("failed_limits", .array(thresholds.failures.map { .string($0) })),
            ("notes", .array(notes.map { .string($0) })),
            ("exit_status", .integer(UInt64(verdict.rawValue))),
        ])
    }

    /// A setting of the run, or a fact that no option says.
    private func json(_ setting: RunSetting) -> JSONTree {
        switch setting.name {
        case "url": .string(plan.url)
        case "started_unix_ms": .integer(startedAt)
        case "measured_ns": .integer(measured)
        case "interrupted": .bool(interrupted)
        default: setting.value?(plan.options) ?? .null
        }
    }

    /// A member that has figures.
    ///
    /// - Parameter others: Its members that no count says.
    private func json(_ section: Figure.Section, _ others: [(String, JSONTree)] = []) -> JSONTree {
        .object(
            Figure.of(section).map { figure in
                (figure.name, others.first { $0.0 == figure.name }?.1 ?? figure.json(figures))
            }
        )
    }

    /// The member about a run with a schedule; null without one.
    private var scheduleJSON: JSONTree {
        guard metrics.has(.schedule), let profile = plan.options.profile else { return .null }
        let stages = profile.stages.map { stage in
            JSONTree.object([
                ("duration_ns", .integer(stage.duration)),
                ("from_per_second", .number(stage.from.perSecond)),
                ("to_per_second", .number(stage.to.perSecond)),
            ])
        }
        let limits = generatorLimits.map { JSONTree.string($0) }
        return json(.schedule, [("stages", .array(stages)), ("generator_limits", .array(limits))])
    }

    /// The member about a run of streams; null where answers are not streams.
    var streamJSON: JSONTree {
        guard metrics.has(.stream), let options = plan.options.stream else { return .null }
        return json(.stream, [("kind", .string(options.kind.rawValue)), ("stall_ns", .integer(options.stall))])
    }

    /// The member about a run of WebSockets; null where there are none.
    var webSocketJSON: JSONTree {
        guard metrics.has(.webSocket), let options = plan.options.webSocket else { return .null }
        let size = JSONTree.integer(UInt64(options.message.count))
        return json(.websocket, [("message_bytes", size), ("binary", .bool(options.isBinary))])
    }

    /// The figures of each name.
    var namesJSON: JSONTree {
        .array(
            zip(plan.requestNames.all, metrics.names).map { name, metrics in
                .object([
                    ("name", .string(name)),
                    ("completed", .integer(metrics.completed)),
                    ("succeeded", .integer(metrics.succeeded)),
                    ("http_errors", .integer(metrics.httpErrors)),
                    ("failed", .integer(metrics.failed)),
                    ("latency", metrics.latency.json),
                ])
            }
        )
    }

    private func json(_ thread: Thread) -> JSONTree {
        .object([
            ("connections", .integer(UInt64(thread.connections))),
            ("completed", .integer(thread.completed)),
            ("completed_per_second", .number(perSecond(thread.completedInTime))),
            ("cpu_ns", .integer(thread.cpuNanoseconds)),
            ("queued_ns", .integer(thread.queuedNanoseconds)),
        ])
    }
}

extension HandshakeLog {
    /// The handshakes of a run; null without any.
    fileprivate var json: JSONTree {
        guard let share = resumedShare else { return .null }
        let agreements = sorted.map { agreement, count in
            JSONTree.object([
                ("version", .string("\(agreement.version)")),
                ("cipher_suite", .string(agreement.cipherSuite)),
                ("count", .integer(count)),
            ])
        }
        return .object([
            ("handshakes", .integer(count)),
            ("full", .integer(full)),
            ("resumed", .integer(resumed)),
            ("resumed_share", .number(share)),
            ("agreements", .array(agreements)),
        ])
    }
}

extension IntervalSeries.Point {
    fileprivate var json: JSONTree {
        let counts = zip(IntervalSeries.figures, counts).map { ($0.name, JSONTree.optional($1)) }
        let others: [(String, JSONTree)] = [
            ("stolen_ns", .optional(stolen)),
            ("statuses", .object(statuses.map { ("\($0.code)", .integer($0.count)) })),
            ("latency", times.json),
        ]
        return .object([("start_ns", .integer(start)), ("end_ns", .integer(end))] + counts + others)
    }
}

extension Failure {
    fileprivate func json(_ record: FailureLog.Record) -> JSONTree {
        .object([
            ("phase", .string(phase.rawValue)),
            ("class", .string(kind.rawValue)),
            ("errno", errno == 0 ? .null : .integer(UInt64(errno.magnitude))),
            ("errno_name", errno == 0 ? .null : .string(Errno(code: errno).name)),
            ("detail", .string(detail)),
            ("count", .integer(record.count)),
            ("first_ns", .integer(record.first)),
            ("last_ns", .integer(record.last)),
            ("example", .string(record.example)),
        ])
    }
}

extension Figure {
    /// The figure as a member of a report.
    fileprivate func json(_ measured: Measured) -> JSONTree {
        switch value {
        case .count, .whole: .optional(integer(measured))
        case .times(let times): measured.metrics[times].json
        case .perSecond, .ratio: number(measured).map { .number($0) } ?? .null
        case .flag(let flag): .bool(flag(measured))
        case .other: .null
        }
    }
}

extension RunFigures {
    fileprivate var json: JSONTree {
        .object([("per_second", .number(perSecond)), ("p50_ns", .optional(p50)), ("p99_ns", .optional(p99))])
    }
}

extension ThresholdOutcome {
    fileprivate var json: JSONTree {
        .array(
            all.map {
                .object([
                    ("condition", .string($0.condition)), ("found", .string($0.figure)), ("kept", .bool($0.isKept)),
                ])
            }
        )
    }
}

extension LatencyHistogram {
    /// The counters and the exact figures; null where nothing was counted.
    var json: JSONTree {
        guard let summary = summary() else { return nil }
        let percentiles = summary.percentiles.map {
            (LatencyHistogram.name(ofPercentile: $0.percentile), JSONTree.integer($0.value))
        }
        return .object([
            ("count", .integer(summary.count)),
            ("over_range", .integer(summary.clamped)),
            ("min", .integer(summary.minimum)),
            ("mean", .number(summary.mean)),
            ("stdev", .number(summary.deviation)),
            ("max", .integer(summary.maximum)),
            ("percentiles", .object(percentiles)),
            ("sum", .integer(sum)),
            ("hdr", .string(hdr)),
        ])
    }
}
