import Reactor
import TLS

/// A load test, driven from Swift: what `volley` does on the command line, and with scripts for what it cannot say there.
///
/// ```swift
/// var test = LoadTest(url: "http://127.0.0.1:8080/")
/// test.rate = 500
/// test.duration = .seconds(30)
/// let report = try test.run()
/// print(report.corrected?.percentile(99) ?? .zero)
/// ```
/// Each thread has its own event loop, connections and counters; histograms are added up at the end. Closed loop: each
/// connection is a virtual user that sends its next request when it has an answer, so stalls hide what was not sent meanwhile. With a
/// ``rate`` requests are due at exact instants, and latency counts from there.
public struct LoadTest: Sendable {
    /// Whom to test; nil starts a server in this process and tests that.
    public var url: String?
    /// Virtual users, all threads together; with a rate, the most connections that are opened.
    public var connections = 10
    public var threads = 1
    /// How long to measure; with ``requests``, whichever ends first. Not used by ``stages``.
    public var duration: Duration? = .seconds(10)
    /// How many requests to send; with a rate, how many come due: visits, where a script makes several of one.
    public var requests: UInt64?
    /// Requests a second, all threads together; nil for a closed loop.
    public var rate: Double?
    /// Rates in a row, instead of ``rate``.
    public var stages: [Stage] = []
    /// Closed loop: the rest of a user after each answer, or after each visit of a script.
    public var think: Duration?
    /// Load before the measured part, in no figure.
    public var warmup = Duration.zero
    /// For a connect, and for a request until its response has ended.
    public var timeout = Duration.seconds(2)
    /// A request whose kept connection ends before any byte of its answer is sent once more, where that does no harm (GET, HEAD, OPTIONS,
    /// TRACE, PUT, DELETE), instead of failing; ``LoadReport/sentAgain`` counts them.
    public var retries = false
    /// How long to wait after the end for what is late; nil: a second with a rate, otherwise not at all.
    public var drain: Duration?
    /// GET, or POST with a body.
    public var method: String?
    public var headers: [(name: String, value: String)] {
        get { fields.map { ($0.name, $0.value) } }
        set { fields = newValue.map { RequestDescription.Field(name: $0.name, value: $0.value) } }
    }
    public var body: [UInt8]?
    /// Redirections that are followed in a row.
    public var redirects = 0
    /// Each virtual user keeps the cookies it is given.
    public var keepsCookies = false
    /// Believe any certificate. Otherwise the system's authorities, or those of ``authorities``.
    public var isInsecure = false
    /// A file of certificates in PEM, instead of the system's.
    public var authorities: String?
    /// Of everything random.
    public var seed: UInt64 = 1
    /// Makes each virtual user's script; called on the user's thread with its number, from 0. A visit begins with the script being
    /// asked for its first request, and ends when it says so.
    public var script: (@Sendable (_ user: Int) -> UserScript)?

    private var fields: [RequestDescription.Field] = []

    /// A part of a run with a rate of its own.
    public struct Stage: Hashable, Sendable {
        public var duration: Duration
        /// At the stage's end, in requests a second.
        public var rate: Double
        /// From the rate before, or 0, evenly to this one; otherwise this one throughout.
        public var isRamp: Bool

        public init(_ duration: Duration, rate: Double, isRamp: Bool = false) {
            (self.duration, self.rate, self.isRamp) = (duration, rate, isRamp)
        }
    }

    public init(url: String? = nil) { self.url = url }

    /// Runs it, and blocks the calling thread until it is over.
    public func run() throws(LoadTestError) -> LoadReport {
        LoadReport(try LibraryRun(try options()).run())
    }

    private func options() throws(LoadTestError) -> LoadOptions {
        let target: LoadOptions.Target = if let url { .url(try TargetURL(url)) } else { .embedded }
        let (path, host) =
            switch target {
            case .embedded: (RunPlan.embeddedTarget(method, hasBody: body != nil), "localhost")
            case .url(let url): (url.target, url.hostField)
            }
        let description = try RequestDescription(
            method: method,
            target: path,
            hostField: host,
            headers: fields.map { "\($0.name): \($0.value)" },
            body: body
        )
        var options = LoadOptions(target, description)
        guard (1...Int(LoadOptions.connectionLimit)).contains(connections),
            (1...Int(LoadOptions.threadLimit)).contains(threads),
            threads <= connections
        else { throw .connectionsAndThreads(connections: connections, threads: threads) }
        (options.connections, options.threads, options.requests, options.seed) = (connections, threads, requests, seed)
        options.duration = try duration.map { span throws(LoadTestError) in try Self.nanoseconds(span, .duration) }
        options.timeout = try Self.nanoseconds(timeout, .timeout)
        options.warmup = warmup > .zero ? try Self.nanoseconds(warmup, .warmup) : 0
        options.think = try think.map { span throws(LoadTestError) in .fixed(try Self.nanoseconds(span, .think)) }
        try setPace(&options)
        guard options.duration != nil || requests != nil else {
            throw .endless
        }
        options.drain = if let drain { drain > .zero ? try Self.nanoseconds(drain, .drain) : 0 } else { options.drain }
        options.retries = retries
        options.users.redirects = max(0, redirects)
        options.users.keepsCookies = keepsCookies
        options.users.script = script
        if case .url(let url) = target, url.isSecure { options.security = try security() }
        return options
    }

    private func setPace(_ options: inout LoadOptions) throws(LoadTestError) {
        guard rate != nil || !stages.isEmpty else { return }
        guard rate == nil || stages.isEmpty, think == nil else {
            throw .conflictingPace
        }
        if let rate {
            options.profile = LoadProfile(rate: try Self.rate(rate), duration: options.duration ?? LoadOptions.longest)
        } else {
            var parts: [LoadProfile.Stage] = []
            for stage in stages {
                let to = stage.rate == 0 ? Rate.zero : try Self.rate(stage.rate)
                let span = try Self.nanoseconds(stage.duration, .stages)
                let from = stage.isRamp ? parts.last?.to ?? .zero : to
                parts.append(LoadProfile.Stage(duration: span, from: from, to: to))
            }
            options.profile = LoadProfile(parts)
            options.duration = options.profile?.duration
        }
        guard let count = options.profile?.count, count > 0 else {
            throw .nothingDue
        }
        options.drain = 1_000_000_000
    }

    private func security() throws(LoadTestError) -> SecurityOptions {
        var configuration = TLSConfiguration()
        configuration.verification = isInsecure ? .none : .full
        if let authorities { configuration.roots = TrustRoots([.file(authorities)]) }
        configuration.ticketsPerHost = max(configuration.ticketsPerHost, connections)
        do throws(TLSError) {
            return SecurityOptions(
                target: try TLSContext(configuration),
                givenRoots: authorities.map { "authorities \(quoted($0))" }
            )
        } catch {
            throw .tls(reason: "\(error)")
        }
    }

    private static func rate(_ perSecond: Double) throws(LoadTestError) -> Rate {
        guard perSecond > 0, perSecond <= 1e9 else {
            throw .rate(perSecond)
        }
        return Rate(nearest: perSecond)
    }

    private static func nanoseconds(_ span: Duration, _ setting: LoadSetting) throws(LoadTestError) -> UInt64 {
        let nanoseconds = span.wholeNanoseconds
        guard nanoseconds > 0, nanoseconds <= LoadOptions.longest else {
            throw .time(setting)
        }
        return UInt64(nanoseconds)
    }
}
