import UncurlEngine
import UncurlLoad
import UncurlTLS
import UncurlText

/// A setting of a run, or another fact of it, as the JSON report's member `run` has it: one row for the report, its
/// schema, and what merges and compares reports.
struct RunSetting: Sendable {
    let name: String
    /// The member's JSON Schema.
    let schema: String
    /// Whether it is the same in all parts of a run. Otherwise it is each part's own, and numbers add up.
    let isShared: Bool
    /// Whether runs that differ in it are not comparable.
    let isCompared: Bool
    let value: @Sendable (RunResult) -> JSONTree

    private init(
        _ name: String,
        _ schema: String,
        isShared: Bool = false,
        isCompared: Bool = false,
        _ value: @escaping @Sendable (RunResult) -> JSONTree
    ) {
        (self.name, self.schema, self.isShared, self.isCompared, self.value) = (
            name, schema, isShared, isCompared, value
        )
    }

    /// Returns a run's setting of this name.
    static func value(_ name: String, _ result: RunResult) -> JSONTree {
        all.first { $0.name == name }?.value(result) ?? .null
    }

    private static let text = #"{"type": "string"}"#
    private static let whole = #"{"type": "integer", "minimum": 0}"#
    private static let optional = #"{"type": ["integer", "null"]}"#

    private static func optional(_ description: String) -> String {
        #"{"description": "\#(description)", "type": ["integer", "null"]}"#
    }

    private static func words(_ description: String) -> String {
        #"{"description": "\#(description)", "type": ["string", "null"]}"#
    }

    static let all: [RunSetting] = [
        RunSetting("url", text, isShared: true, isCompared: true) { .string($0.plan.url) },
        RunSetting("method", text, isShared: true, isCompared: true) { .string($0.plan.request.method) },
        RunSetting("body_bytes", whole, isShared: true, isCompared: true) {
            .integer(UInt64($0.plan.request.body?.count ?? 0))
        },
        RunSetting("mode", #"{"enum": ["closed-loop", "open-loop"]}"#, isShared: true) {
            $0.plan.profile == nil ? "closed-loop" : "open-loop"
        },
        RunSetting("schedule", words("Open loop: the rates, in words."), isCompared: true) {
            $0.plan.profile.map { .string($0.description) } ?? .null
        },
        RunSetting(
            "arrivals",
            #"{"description": "Open loop: at equal distances, or at random.", "enum": ["even", "poisson", null]}"#,
            isCompared: true
        ) {
            $0.plan.profile == nil ? .null : .string($0.plan.arrivals.rawValue)
        },
        RunSetting(
            "crowd",
            words("Closed loop: the numbers of connections over time, in words."),
            isCompared: true
        ) {
            $0.plan.crowd.map { .string($0.description) } ?? .null
        },
        RunSetting(
            "scenarios",
            """
            {"description": "The scenarios of users' visits, by name; null where each request stands alone.", \
            "type": ["array", "null"], "items": {"type": "string"}}
            """,
            isShared: true,
            isCompared: true
        ) {
            $0.plan.scenarios.map { .array($0.all.map { .string($0.name) }) } ?? .null
        },
        RunSetting("think", words("Closed loop: the pause after an answer, in words."), isCompared: true) {
            $0.plan.think.map { .string($0.description) } ?? .null
        },
        RunSetting("drain_ns", whole, isShared: true) { .integer($0.plan.drain) },
        RunSetting(
            "max_lag_ns",
            optional("Open loop: how far volley's own lateness may move a percentile."),
            isShared: true
        ) {
            .optional($0.plan.profile == nil ? nil : $0.plan.maxLag)
        },
        RunSetting(
            "work",
            """
            {"description": "handshakes: connections are opened with TLS and closed; no requests are sent.", \
            "enum": ["requests", "handshakes"]}
            """,
            isShared: true
        ) {
            .string($0.plan.work.rawValue)
        },
        RunSetting("connections", whole, isCompared: true) { .integer(UInt64($0.plan.connections)) },
        RunSetting("threads", whole) { .integer(UInt64($0.plan.threads)) },
        RunSetting("pipeline", whole, isShared: true, isCompared: true) { .integer(UInt64($0.plan.pipeline)) },
        RunSetting("reuse", #"{"enum": ["keep-alive", "fin", "rst"]}"#, isCompared: true) {
            .string($0.plan.reuse.rawValue)
        },
        RunSetting("proxy", words("The proxy, without its credentials."), isCompared: true) {
            $0.plan.proxy.map { .string("\($0)") } ?? .null
        },
        RunSetting(
            "tls",
            """
            {"description": "The TLS settings; null for http.", "type": ["object", "null"], \
            "additionalProperties": false, \
            "required": ["verified", "server_name", "client_certificate", "resumption", "minimum", "maximum"], \
            "properties": {"verified": {"type": "boolean"}, "server_name": {"type": "string"}, \
            "client_certificate": {"type": "boolean"}, "resumption": {"type": "boolean"}, \
            "minimum": {"enum": ["TLS 1.2", "TLS 1.3"]}, "maximum": {"enum": ["TLS 1.2", "TLS 1.3"]}}}
            """
        ) {
            security($0.plan)
        },
        RunSetting("timeout_ns", whole, isShared: true, isCompared: true) { .integer($0.plan.timeout) },
        RunSetting("connect_timeout_ns", optional, isShared: true) { .optional($0.plan.limits.connect) },
        RunSetting("first_byte_timeout_ns", optional, isShared: true) { .optional($0.plan.limits.responseStart) },
        RunSetting("idle_timeout_ns", optional, isShared: true) { .optional($0.plan.limits.idle) },
        RunSetting(
            "retry",
            #"{"description": "Whether --retry sends requests again.", "type": "boolean"}"#,
            isCompared: true
        ) {
            .bool($0.plan.retries)
        },
        RunSetting("connection_age_ns", optional("The upper bound of --connection-age."), isShared: true) {
            .optional($0.plan.limits.age?.upperBound)
        },
        RunSetting("sending_bytes_per_second", optional("On each connection."), isShared: true) {
            .optional($0.plan.limits.sending.map { UInt64($0) })
        },
        RunSetting("receiving_bytes_per_second", optional, isShared: true) {
            .optional($0.plan.limits.receiving.map { UInt64($0) })
        },
        RunSetting("requests_per_connection", optional, isShared: true, isCompared: true) {
            .optional($0.plan.limits.requests.map { UInt64($0) })
        },
        RunSetting("warmup_ns", whole, isShared: true, isCompared: true) { .integer($0.plan.warmup) },
        RunSetting(
            "duration_ns",
            optional("The requested length; null when only a count ends the run."),
            isShared: true
        ) {
            .optional($0.plan.duration)
        },
        RunSetting("requests", optional("The requested number.")) { .optional($0.plan.requests) },
        RunSetting("started_unix_ms", whole) { .integer($0.startedAt) },
        RunSetting(
            "measured_ns",
            #"{"description": "The actual length of the measured part.", "type": "integer", "minimum": 0}"#
        ) {
            .integer($0.measured)
        },
        RunSetting("interrupted", #"{"type": "boolean"}"#) { .bool($0.interrupted) },
    ]

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
}
