package import UncurlEngine
package import UncurlReactor
package import UncurlSemantics
package import UncurlTLS
package import UncurlText

/// The settings of a run: every value is checked, nothing is started or looked up. The defaults are wrk's.
package struct LoadOptions: Sendable {
    /// What is tested. Nil for a server that the run starts in this process.
    package var target: TargetURL?
    package var work = LoadKind.requests
    package var proxy: Proxy?
    package var security = SecurityOptions()
    package var request: RequestDescription
    package var connections = 10
    package var threads = 2
    /// The duration in nanoseconds. Nil when only a count ends the run.
    package var duration: UInt64? = 10_000_000_000
    package var requests: UInt64?
    package var timeout: UInt64 = 2_000_000_000
    package var limits = ConnectionLimits()
    package var warmup: UInt64 = 0
    package var pipeline = 1
    /// New connections a second, all threads together. Nil for as fast as the server's queue takes them.
    package var connectRate: UInt64?
    package var reuse = ConnectionReuse.keepAlive
    /// Whether a request is sent again, instead of failing, if its kept connection ends before any byte of the answer.
    package var retries = false
    /// The addresses that connections are opened from, with port 0.
    package var sources: [SocketAddress] = []
    package var unixSocket: UnixName?
    package var connectTo: [ConnectToRule] = []
    /// The only family in which names are looked up. Nil for both.
    package var family: IPAddress.Family?
    package var showsDistribution = false
    /// The part of a run that several processes make together; ``connections`` and ``requests`` are this part's.
    package var shard = Shard.whole
    package var thresholds: [Threshold] = []
    package var search: SearchGoal?
    /// Whether the number of busy connections is set from outside.
    package var isSwarm = false
    package var names: SettingNames = [:]
    /// Open loop: when requests are due. Nil if each connection sends its next as soon as it has an answer.
    package var profile: LoadProfile?
    /// Whether requests come due at random, like those of many independent users, and not at equal distances.
    package var isPoisson = false
    /// Closed loop: how many connections are busy at which time. Nil for all.
    package var crowd: CrowdProfile?
    /// Closed loop: how long a connection rests after an answer.
    package var think: Pause?
    /// How long answers are waited for after the end, in nanoseconds.
    package var drain: UInt64 = 0
    /// How long before a request is due a thread stops sleeping and polls, in nanoseconds.
    package var spin: UInt64 = 0
    /// How far volley's own lateness may move a percentile by a schedule, in nanoseconds.
    package var maxLag = LoadOptions.tolerableLag
    package var seed: UInt64 = 1
    /// The requests that replace `request`. If there are none, `request` is sent again and again.
    package var inputs = RequestInput()
    /// Whether the requests of the inputs are taken at random, each as often as its weight says. Otherwise they are
    /// taken in the order of the file, each as often in a row as its weight says, and the first follows the last; all
    /// threads share that order.
    package var isRandom = false
    package var keepsCookies = false
    package var cookies: [GivenCookie] = []
    /// The number of redirections in a row that are followed.
    package var redirects = 0
    package var checks = ResponseChecks()
    /// The places to fill in, in the texts of the request and of the inputs.
    package var slots = TemplateSlots()
    package var visit: (@Sendable (LoadUser) async throws -> Void)?
    package var visitNames: [String] = []
    package var stream: StreamOptions?
    /// The messages on WebSockets, for which `request` is the opening handshake; nil for a run of HTTP requests.
    package var webSocket: WebSocketOptions?
    /// The scenarios of the users' visits, with `inputs` as the requests of their steps; nil for requests without a
    /// scenario.
    package var scenarios: Scenarios?

    /// The longest time, a month: instants are signed 64-bit nanoseconds, and any sum of a few of these fits.
    package static let longest: UInt64 = 31 * 24 * 3_600_000_000_000
    /// The generator's lateness that is ignored, because it moves a percentile no more than this.
    package static let tolerableLag: UInt64 = 1_000_000
    /// The most connections that an option may ask for. ``RunPlan`` checks what this process may open.
    package static let connectionLimit: UInt64 = 1_000_000
    package static let threadLimit: UInt64 = 1_024
    /// A deeper pipeline only measures the server's buffers.
    package static let pipelineLimit: UInt64 = 1_024

    package init(_ target: TargetURL?, _ request: RequestDescription) {
        (self.target, self.request) = (target, request)
    }
}

extension JSONTree {
    fileprivate static func optional(_ text: String?) -> JSONTree { text.map { .string($0) } ?? .null }
}

extension LoadOptions {
    /// The host that connects go to. Nil for the embedded server and a unix socket.
    package var firstHop: URLHost? {
        guard unixSocket == nil, let url = target else { return nil }
        return proxy?.host ?? url.destination(by: connectTo).0
    }

    /// Whether users do nothing but send requests.
    package var hasPlainUsers: Bool {
        !keepsCookies && redirects == 0 && checks.isEmpty && slots.isEmpty && !hasVisits
    }

    /// Whether responses are read, not only counted.
    var inspectsAnswers: Bool { keepsCookies || redirects > 0 || !checks.isEmpty || hasVisits }

    package var hasVisits: Bool { visit != nil }
}

/// The TLS settings of a run, with the identity already read. ``loadRoots()`` reads the authorities.
package struct SecurityOptions: Sendable {
    /// The context for the target, one for all threads, which share its tickets. Nil for http.
    package var target: TLSContext?
    package var proxy: TLSContext?
    /// The name to send and verify instead of the URL's host.
    package var serverName: String?
    /// The setting that names other authorities than the system's, for messages.
    package var givenRoots: String?

    package init() {}

    /// Reads the authorities, which blocks. Call it before the clock starts.
    package func loadRoots() throws(LoadTestError) {
        for context in [target, proxy] {
            guard let context, context.configuration.verifiesServers else { continue }
            guard case .failure(let error) = context.trust.load() else { continue }
            throw .authorities(reason: oneLine("\(error)", limit: 400), given: givenRoots)
        }
    }
}

/// What happens to a connection after each response or, in a run of handshakes, once the connection is open.
package enum ConnectionReuse: String, Hashable, Sendable {
    case keepAlive = "keep-alive"
    /// Each request has a new connection, which volley ends by FIN: the TIME_WAIT is on this side.
    case fin
    /// Each request has a new connection, which volley ends by RST: there is no TIME_WAIT.
    case rst
}

/// Limits on a connection's life and on the parts of a request, in addition to the limit on the whole
/// (``LoadOptions/timeout``). Times are in nanoseconds; nil means no limit.
package struct ConnectionLimits: Hashable, Sendable {
    /// The limit of a connect, with its proxy and TLS.
    package var connect: UInt64?
    /// The limit from a request's last byte to the first of its response.
    package var responseStart: UInt64?
    /// The limit of a time without a byte in either direction.
    package var idle: UInt64?
    /// The age at which a connection is ended and replaced. Each connection has its own age in this range, so that not
    /// all end at once.
    package var age: ClosedRange<UInt64>?
    /// The speed at which requests are sent and answers read on a connection, in bytes a second.
    package var sending: Int?
    package var receiving: Int?
    /// The number of requests after which a connection is ended and replaced.
    package var requests: Int?
    package var resets = false

    package init() {}

    /// The limits as text: `connect 500 ms, age 20 s to 40 s`.
    package var description: String {
        let times = [("connect", connect), ("first byte", responseStart), ("idle", idle)]
            .compactMap { name, limit in limit.map { "\(name) \(timeText($0))" } }
        let ages = [age].compactMap(\.self).map { ages in
            let (low, high) = (timeText(ages.lowerBound), timeText(ages.upperBound))
            return "age \(low == high ? low : "\(low) to \(high)")"
        }
        let rates = [("sending at", sending), ("receiving at", receiving)]
            .compactMap { name, rate in rate.map { "\(name) \(bytesText(Double($0)))/s" } }
        return (times + ages + rates).joined(separator: ", ")
    }
}

/// A rule that connects requests for one host and port to another, as with curl's `--connect-to`.
///
/// - host, port: The host and port of the URL. Nil for any.
/// - newHost, newPort: The host and port to connect to. Nil for that of the URL.
package typealias ConnectToRule = (host: URLHost?, port: UInt16?, newHost: URLHost?, newPort: UInt16?)

extension TargetURL {
    package func destination(by rules: [ConnectToRule]) -> (URLHost, UInt16) {
        let rule = rules.first { $0.port ?? port == port && $0.host ?? host == host }
        return (rule?.newHost ?? host, rule?.newPort ?? port)
    }
}

/// A setting of a run, or another fact of it, as the JSON report's member `run` has it: one row for the report, its
/// schema, and what merges and compares reports.
package struct RunSetting: Sendable {
    package let name: String
    package let schema: String
    /// Whether it is the same in all parts of a run. Otherwise it is each part's own, and numbers add up.
    package let isShared: Bool
    package let isCompared: Bool
    /// The title of a remark (``Figure/remark``) that people get even where its count is zero, if the setting is on.
    private let asks: String?
    /// Nil for what no option says: the report knows it.
    package let value: (@Sendable (LoadOptions) -> JSONTree)?

    private typealias Value = @Sendable (LoadOptions) -> JSONTree

    private init(
        _ name: String,
        _ schema: String,
        isShared: Bool = false,
        isCompared: Bool = false,
        asks: String? = nil,
        _ value: Value? = nil
    ) {
        (self.name, self.schema, self.isShared, self.isCompared) = (name, schema, isShared, isCompared)
        (self.asks, self.value) = (asks, value)
    }

    private static func shared(_ name: String, _ schema: String, _ value: @escaping Value) -> RunSetting {
        RunSetting(name, schema, isShared: true, value)
    }

    private static func compared(_ name: String, _ schema: String, _ value: @escaping Value) -> RunSetting {
        RunSetting(name, schema, isCompared: true, value)
    }

    private static func both(_ name: String, _ schema: String, _ value: @escaping Value) -> RunSetting {
        RunSetting(name, schema, isShared: true, isCompared: true, value)
    }

    package static func asks(for remark: String, _ options: LoadOptions) -> Bool {
        all.contains { $0.asks == remark && $0.value?(options).bool == true }
    }

    private static func optional(_ words: String) -> String { .described(words, .optionalInteger) }
    private static func words(_ words: String) -> String { .described(words, .optionalText) }

    private static let modes = #"{"enum": ["closed-loop", "open-loop"]}"#
    private static let arrivals =
        #"{"description": "Open loop: at equal distances, or at random.", "enum": ["even", "poisson", null]}"#
    private static let scenarios = """
        {"description": "The scenarios of users' visits, by name; null where each request stands alone.", \
        "type": ["array", "null"], "items": {"type": "string"}}
        """
    private static let lag = optional("Open loop: how far volley's own lateness may move a percentile.")
    private static let work = """
        {"description": "handshakes: connections are opened with TLS and closed; no requests are sent.", \
        "enum": ["requests", "handshakes"]}
        """
    private static let tls = """
        {"description": "The TLS settings; null for http.", "type": ["object", "null"], \
        "additionalProperties": false, \
        "required": ["verified", "server_name", "client_certificate", "resumption", "minimum", "maximum"], \
        "properties": {"verified": {"type": "boolean"}, "server_name": {"type": "string"}, \
        "client_certificate": {"type": "boolean"}, "resumption": {"type": "boolean"}, \
        "minimum": {"enum": ["TLS 1.2", "TLS 1.3"]}, "maximum": {"enum": ["TLS 1.2", "TLS 1.3"]}}}
        """
    private static let retry = String.described("Whether --retry sends requests again.", .flag)
    private static let length = optional("The requested length; null when only a count ends the run.")
    private static let measured = String.described("The actual length of the measured part.", .whole)

    package static let all: [RunSetting] = [
        RunSetting("url", .text, isShared: true, isCompared: true),
        both("method", .text) { .string($0.request.method) },
        both("body_bytes", .whole) { .integer(UInt64($0.request.body?.count ?? 0)) },
        shared("mode", modes) { $0.profile == nil ? "closed-loop" : "open-loop" },
        compared("schedule", words("Open loop: the rates, in words.")) { .optional($0.profile?.description) },
        compared("arrivals", arrivals) { $0.profile == nil ? .null : $0.isPoisson ? "poisson" : "even" },
        compared("crowd", words("Closed loop: the numbers of connections over time, in words.")) {
            .optional($0.crowd?.words)
        },
        both("scenarios", scenarios) { $0.scenarios.map { .array($0.all.map { .string($0.name) }) } ?? .null },
        compared("think", words("Closed loop: the pause after an answer, in words.")) {
            .optional($0.think?.description)
        },
        shared("drain_ns", .whole) { .integer($0.drain) },
        shared("max_lag_ns", lag) { .optional($0.profile == nil ? nil : $0.maxLag) },
        shared("work", work) { .string($0.work.rawValue) },
        compared("connections", .whole) { .integer(UInt64($0.connections)) },
        RunSetting("threads", .whole) { .integer(UInt64($0.threads)) },
        both("pipeline", .whole) { .integer(UInt64($0.pipeline)) },
        compared("reuse", #"{"enum": ["keep-alive", "fin", "rst"]}"#) { .string($0.reuse.rawValue) },
        compared("proxy", words("The proxy, without its credentials.")) { .optional($0.proxy.map { "\($0)" }) },
        RunSetting("tls", tls) { security($0) },
        both("timeout_ns", .whole) { .integer($0.timeout) },
        shared("connect_timeout_ns", .optionalInteger) { .optional($0.limits.connect) },
        shared("first_byte_timeout_ns", .optionalInteger) { .optional($0.limits.responseStart) },
        shared("idle_timeout_ns", .optionalInteger) { .optional($0.limits.idle) },
        RunSetting("retry", retry, isCompared: true, asks: "Sent again") { .bool($0.retries) },
        shared("connection_age_ns", optional("The upper bound of --connection-age.")) {
            .optional($0.limits.age?.upperBound)
        },
        shared("sending_bytes_per_second", optional("On each connection.")) {
            .optional($0.limits.sending.map { UInt64($0) })
        },
        shared("receiving_bytes_per_second", .optionalInteger) { .optional($0.limits.receiving.map { UInt64($0) }) },
        both("requests_per_connection", .optionalInteger) { .optional($0.limits.requests.map { UInt64($0) }) },
        both("warmup_ns", .whole) { .integer($0.warmup) },
        shared("duration_ns", length) { .optional($0.duration) },
        RunSetting("requests", optional("The requested number.")) { .optional($0.requests) },
        RunSetting("started_unix_ms", .whole),
        RunSetting("measured_ns", measured),
        RunSetting("interrupted", .flag),
    ]

    private static func security(_ options: LoadOptions) -> JSONTree {
        guard let configuration = options.security.target?.configuration else { return .null }
        return .object([
            ("verified", .bool(configuration.verifiesServers)),
            ("server_name", .string(options.security.serverName ?? options.target?.parts.origin.host ?? "")),
            ("client_certificate", .bool(configuration.identity != nil)),
            ("resumption", .bool(configuration.resumes)),
            ("minimum", .string("\(configuration.minimumVersion)")),
            ("maximum", .string("\(configuration.maximumVersion)")),
        ])
    }
}
