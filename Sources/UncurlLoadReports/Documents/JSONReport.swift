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
            ("run", .object(RunSetting.all.map { ($0.name, run($0, result)) })),
            ("requests", section(.requests, result)),
            ("rate", section(.rate, result)),
            ("statuses", statuses(metrics)),
            ("bytes", section(.bytes, result)),
            ("connections", section(.connections, result)),
            ("tls", handshakes(metrics.handshakes)),
            ("latency", section(.latency, result)),
            ("schedule", schedule(result)),
            ("stream", stream(result)),
            ("websocket", webSocket(result)),
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

    /// A setting of the run, or a fact that no option says.
    private static func run(_ setting: RunSetting, _ result: RunResult) -> JSONTree {
        switch setting.name {
        case "url": .string(result.plan.url)
        case "started_unix_ms": .integer(result.startedAt)
        case "measured_ns": .integer(result.measured)
        case "interrupted": .bool(result.interrupted)
        default: setting.value?(result.plan.options) ?? .null
        }
    }

    /// A member that has figures.
    ///
    /// - Parameter others: Its members that no count says.
    private static func section(
        _ section: Figure.Section,
        _ result: RunResult,
        _ others: [(String, JSONTree)] = []
    ) -> JSONTree {
        .object(
            Figure.of(section).map { figure in
                (figure.name, others.first { $0.0 == figure.name }?.1 ?? figure.json(result.figures))
            }
        )
    }

    /// The member about a run with a schedule; null without one.
    private static func schedule(_ result: RunResult) -> JSONTree {
        guard result.metrics.has(.schedule), let profile = result.plan.options.profile else { return .null }
        let stages = profile.stages.map { stage in
            JSONTree.object([
                ("duration_ns", .integer(stage.duration)),
                ("from_per_second", .number(stage.from.perSecond)),
                ("to_per_second", .number(stage.to.perSecond)),
            ])
        }
        let limits = result.generatorLimits.map { JSONTree.string($0) }
        return section(.schedule, result, [("stages", .array(stages)), ("generator_limits", .array(limits))])
    }

    /// The member about a run of streams; null where answers are not streams.
    static func stream(_ result: RunResult) -> JSONTree {
        guard result.metrics.has(.stream), let options = result.plan.options.stream else { return .null }
        return section(
            .stream,
            result,
            [("kind", .string(options.kind.rawValue)), ("stall_ns", .integer(options.stall))]
        )
    }

    /// The member about a run of WebSockets; null where there are none.
    static func webSocket(_ result: RunResult) -> JSONTree {
        guard result.metrics.has(.webSocket), let options = result.plan.options.webSocket else { return .null }
        let size = JSONTree.integer(UInt64(options.message.count))
        return section(.websocket, result, [("message_bytes", size), ("binary", .bool(options.isBinary))])
    }

    private static func statuses(_ metrics: Metrics) -> JSONTree {
        .object(
            metrics.statuses.indices.filter { metrics.statuses[$0] > 0 }.map {
                ("\($0)", .integer(metrics.statuses[$0]))
            }
        )
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
        let counts = zip(IntervalSeries.figures, point.counts).map { ($0.name, JSONTree.optional($1)) }
        let others: [(String, JSONTree)] = [
            ("stolen_ns", .optional(point.stolen)),
            ("statuses", .object(point.statuses.map { ("\($0.code)", .integer($0.count)) })),
            ("latency", point.times.json),
        ]
        return .object([("start_ns", .integer(point.start)), ("end_ns", .integer(point.end))] + counts + others)
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
    var json: JSONTree {
        .object([("per_second", .number(perSecond)), ("p50_ns", .optional(p50)), ("p99_ns", .optional(p99))])
    }
}

extension ThresholdOutcome {
    var json: JSONTree {
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
        return .object([
            ("count", .integer(summary.count)),
            ("over_range", .integer(summary.clamped)),
            ("min", .integer(summary.minimum)),
            ("mean", .number(summary.mean)),
            ("stdev", .number(summary.deviation)),
            ("max", .integer(summary.maximum)),
            (
                "percentiles",
                .object(
                    summary.percentiles.map { (LatencyHistogram.name(ofPercentile: $0.percentile), .integer($0.value)) }
                )
            ),
            ("sum", .integer(sum)),
            ("hdr", .string(HistogramCodec.text(self))),
        ])
    }
}

/// The figures by name, for each report.
enum NamedReport {
    /// The names with their counts; empty where requests have no names.
    static func rows(_ result: RunResult) -> [(name: String, metrics: NamedMetrics)] {
        Array(zip(result.plan.requestNames.all, result.metrics.names))
    }

    static func json(_ result: RunResult) -> JSONTree {
        .array(
            rows(result).map { name, metrics in
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

    /// A name for logs whose tags have neither commas nor spaces.
    static func tag(_ series: String, _ name: String) -> String {
        let scalars = name.unicodeScalars.map { $0 == "," || $0.properties.isWhitespace ? "_" : $0 }
        return series + "." + String(String.UnicodeScalarView(scalars))
    }

    /// A name for comma-separated values (RFC 4180 §2).
    static func cell(_ name: String) -> String {
        name.utf8.contains { ",\"\r\n".utf8.contains($0) } ? "\"\(name.replacingEach("\"", by: "\"\""))\"" : name
    }
}
