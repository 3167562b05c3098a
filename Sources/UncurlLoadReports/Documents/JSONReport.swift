import UncurlEngine
import UncurlHTTP1
package import UncurlLoad
import UncurlReactor
import UncurlTLS
package import UncurlText

typealias Member<Owner> = (name: String, rule: String, value: @Sendable (Owner) -> JSONTree)

extension JSONTree {
    fileprivate init<Owner>(_ owner: Owner, _ members: [Member<Owner>]) {
        self = .object(members.map { ($0.name, $0.value(owner)) })
    }
}

extension RunResult {
    /// The report for programs, which ``SavedReport/schemaText`` describes. Times are nanoseconds.
    package var json: JSONTree { JSONTree(self, Self.members) }

    static let members: [Member<RunResult>] = [
        ("schema", #"{"const": 2}"#, { _ in .integer(SavedReport.schema) }),
        ("volley", .described("Version of volley.", .text), { _ in .string(PackageVersion.text) }),
        ("run", SavedReport.runRule, { run in .object(RunSetting.all.map { ($0.name, run.json($0)) }) }),
        ("requests", SavedReport.section(.requests), { $0.json(.requests) }),
        ("rate", SavedReport.section(.rate), { $0.json(.rate) }),
        (
            "statuses", SavedReport.statusRule,
            { .object($0.metrics.seenStatuses.map { ("\($0.code)", .integer($0.count)) }) }
        ),
        (
            "bytes",
            SavedReport.section(
                .bytes,
                "The bytes of messages, and those of their contents; over TLS, before encryption."
            ), { $0.json(.bytes) }
        ),
        (
            "connections",
            SavedReport.section(
                .connections,
                "Connections of the whole run with its warm-up; of handshakes, of the measured part only."
            ), { $0.json(.connections) }
        ),
        (
            "tls",
            SavedReport.object(
                SavedReport.rules(HandshakeLog.members),
                4,
                "The handshakes with the server that led to a connection; null without any.",
                isOptional: true
            ), { $0.metrics.handshakes.count == 0 ? .null : JSONTree($0.metrics.handshakes, HandshakeLog.members) }
        ),
        (
            "latency",
            SavedReport.section(.latency, "In a closed loop, requests that were not sent during stalls are missing."),
            { $0.json(.latency) }
        ),
        ("schedule", .definition("schedule"), { $0.scheduleJSON }),
        (
            "stream", SavedReport.section(.stream, "The events of answers that are streams. Null for others."),
            { $0.streamJSON }
        ),
        ("websocket", .definition("websocket"), { $0.webSocketJSON }),
        ("names", .definition("names"), { $0.namesJSON }),
        (
            "errors", SavedReport.table(failureMembers, inLines: true),
            { .array($0.metrics.failures.sorted.map { JSONTree($0, failureMembers) }) }
        ),
        (
            "threads", SavedReport.table(threadMembers),
            { run in .array(run.threads.map { JSONTree((run, $0), threadMembers) }) }
        ),
        ("intervals", .definition("intervals"), { .array($0.course.points.map(\.json)) }),
        ("runs", .definition("runs"), { .array($0.runs.map { JSONTree($0, runMembers) }) }),
        ("limits", .definition("limits"), { .array($0.thresholds.all.map { JSONTree($0, findingMembers) }) }),
        (
            "failed_limits", .described("Conditions of --fail-if that hold, and their values.", .texts),
            { .array($0.thresholds.failures.map { .string($0) }) }
        ),
        ("notes", .texts, { .array($0.notes.map { .string($0) }) }),
        (
            "exit_status", #"{"enum": [0, 2, 3, 4, 5, 130]}"#,
            { .integer(UInt64($0.verdict.rawValue)) }
        ),
    ]

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

    var namesJSON: JSONTree {
        .array(zip(plan.requestNames.all, metrics.names).map { JSONTree(($0, $1), Self.nameMembers) })
    }

    static let nameMembers: [Member<(name: String, metrics: NamedMetrics)>] = [
        ("name", .text, { .string($0.name) }),
        ("completed", .whole, { .integer($0.metrics.completed) }),
        ("succeeded", .whole, { .integer($0.metrics.succeeded) }),
        ("http_errors", .whole, { .integer($0.metrics.httpErrors) }),
        (
            "failed", .described("Failed requests, including those without a connection.", .whole),
            { .integer($0.metrics.failed) }
        ),
        (
            "latency", .described("corrected with a schedule, otherwise raw.", .definition("histogram")),
            { $0.metrics.latency.json }
        ),
    ]

    private static let threadMembers: [Member<(run: RunResult, thread: Thread)>] = [
        ("connections", .whole, { .integer(UInt64($0.thread.connections)) }),
        ("completed", .whole, { .integer($0.thread.completed) }),
        ("completed_per_second", .real, { .number($0.run.perSecond($0.thread.completedInTime)) }),
        ("cpu_ns", .whole, { .integer($0.thread.cpuNanoseconds) }),
        (
            "queued_ns", .described("The thread could run but had no core.", .whole),
            { .integer($0.thread.queuedNanoseconds) }
        ),
    ]

    private static let failureMembers: [Member<(failure: Failure, record: FailureLog.Record)>] = [
        ("phase", SavedReport.choice(Phase.allCases.map(\.rawValue)), { .string($0.failure.phase.rawValue) }),
        (
            "class", SavedReport.choice(FailureClass.allCases.map(\.rawValue), depth: 10),
            { .string($0.failure.kind.rawValue) }
        ),
        ("errno", .optionalInteger, { $0.failure.errno == 0 ? .null : .integer(UInt64($0.failure.errno.magnitude)) }),
        (
            "errno_name", .optionalText,
            { $0.failure.errno == 0 ? .null : .string(Errno(code: $0.failure.errno).name) }
        ),
        ("detail", .text, { .string($0.failure.detail) }),
        ("count", .whole, { .integer($0.record.count) }),
        ("first_ns", .described("Since the start of the run.", .whole), { .integer($0.record.first) }),
        ("last_ns", .whole, { .integer($0.record.last) }),
        ("example", .text, { .string($0.record.example) }),
    ]

    static let findingMembers: [Member<ThresholdOutcome.Finding>] = [
        ("condition", .described("The condition as it was given.", .text), { .string($0.condition) }),
        ("found", .described("The value of its figure.", .text), { .string($0.figure) }),
        (
            "kept", .described("True if the condition did not hold: the run has not failed by it.", .flag),
            { .bool($0.isKept) }
        ),
    ]
}

extension HandshakeLog {
    fileprivate static let members: [Member<HandshakeLog>] = [
        ("handshakes", .whole, { .integer($0.count) }),
        ("full", .whole, { .integer($0.full) }),
        ("resumed", .whole, { .integer($0.resumed) }),
        ("resumed_share", .described("0 to 1.", .real), { .number($0.resumedShare ?? 0) }),
        (
            "agreements", SavedReport.table(agreementMembers, depth: 8),
            { .array($0.sorted.map { JSONTree($0, agreementMembers) }) }
        ),
    ]

    private static let agreementMembers: [Member<(version: TLSVersion, cipherSuite: String, count: UInt64)>] = [
        ("version", SavedReport.choice(["TLS 1.2", "TLS 1.3"]), { .string("\($0.version)") }),
        ("cipher_suite", .described("IANA's name.", .text), { .string($0.cipherSuite) }),
        ("count", .whole, { .integer($0.count) }),
    ]
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

extension Figure {
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

extension RunResult {
    static let runMembers: [Member<RunFigures>] = [
        ("per_second", .described("Successes, or connections.", .real), { .number($0.perSecond) }),
        ("p50_ns", .optionalInteger, { .optional($0.p50) }),
        ("p99_ns", .optionalInteger, { .optional($0.p99) }),
    ]
}

extension LatencyHistogram {
    /// The counters and the exact figures; null where nothing was counted.
    var json: JSONTree { summary().map { JSONTree((self, $0), Self.members) } ?? .null }

    static let members: [Member<(times: LatencyHistogram, summary: Summary)>] = [
        ("count", .whole, { .integer($0.summary.count) }),
        ("over_range", SavedReport.clampedRule, { .integer($0.summary.clamped) }),
        ("min", .whole, { .integer($0.summary.minimum) }),
        ("mean", .real, { .number($0.summary.mean) }),
        ("stdev", .real, { .number($0.summary.deviation) }),
        ("max", .whole, { .integer($0.summary.maximum) }),
        (
            "percentiles", #"{"type": "object", "additionalProperties": \#(String.whole)}"#,
            { .object($0.summary.percentiles.map { (name(ofPercentile: $0.percentile), .integer($0.value)) }) }
        ),
        ("sum", .described("Of all values, modulo 2^64.", .whole), { .integer($0.times.sum) }),
        (
            "hdr", .described("The counters: HdrHistogram's V2, compressed, as Base64.", .text),
            { .string($0.times.hdr) }
        ),
    ]
}
