import UncurlReactor
import UncurlTLS

#if !Commands
#error("UncurlLoad needs the trait Commands: say traits: [\"Commands\"], or swift build --traits Commands")
#endif

/// A load test that a Swift program configures and runs: the load of the command `volley`, and visits in Swift.
///
/// ```swift
/// var test = LoadTest(url: "http://127.0.0.1:8080/")
/// test.rate = 500
/// test.duration = .seconds(30)
/// let report = try test.run()
/// print(report.corrected?.percentile(99) ?? .zero)
/// ```
/// Each thread has its own event loop, connections and counters; histograms are added up at the end. Closed loop: each
/// connection is a virtual user that sends its next request when it has an answer, so no request is sent during a
/// stall, and the latencies lack those requests. With a ``rate`` requests are due at exact instants, and latency begins
/// then.
public struct LoadTest: Sendable {
    /// What to request: an http or https URL. Nil starts a server in this process and tests that.
    public var url: String?
    /// Virtual users of all threads together, from 1 to 1,000,000; with a rate, the most connections that are opened.
    public var connections = 10
    /// Threads, each with an event loop of its own: from 1 to ``connections``, at most 1,024.
    public var threads = 1
    /// How long to measure, at most 744 hours; with ``requests``, whichever ends first. ``stages`` have their own.
    public var duration: Duration? = .seconds(10)
    /// How many requests to send, without those that follow a redirection. With a ``rate``: how many instants come due,
    /// each of them for one request, or for one ``visit``.
    public var requests: UInt64?
    /// Requests a second of all threads together, more than 0 and at most 1e9; nil for a closed loop.
    public var rate: Double?
    /// Rates in a row, instead of ``rate``: together at most 744 hours.
    public var stages: [Stage] = []
    /// Closed loop: how long a user rests after each answer, or after each ``visit``. It excludes ``rate`` and
    /// ``stages``.
    public var think: Duration?
    /// How long the server is loaded before the measured part. Its requests are in no figure.
    public var warmup = Duration.zero
    /// The limit of a connect, and of a request until its response has ended: more than 0, at most 744 hours.
    public var timeout = Duration.seconds(2)
    /// Whether a request is sent once more, instead of failing, when a kept connection ends before the answer has
    /// begun. Only where that does no harm: GET, HEAD, OPTIONS, TRACE, PUT, DELETE. A ``LoadReport`` counts
    /// these requests.
    public var retries = false
    /// How long to wait after the end for late responses. Nil: a second with a ``rate`` or ``stages``, otherwise 0.
    public var drain: Duration?
    /// The method; nil for GET, or for POST with a ``body``.
    public var method: String?
    /// Fields of each request, in this order. Framing fields are refused by ``run()``; a Host replaces the URL's.
    public var headers: [(name: String, value: String)] = []
    /// The content of each request; nil for none.
    public var body: [UInt8]?
    /// How many redirections in a row are followed. One more is a failure; with 0 a redirection is an answer like
    /// others.
    public var redirects = 0
    /// Whether each virtual user keeps the cookies it is given, by the rules of RFC 6265bis.
    public var keepsCookies = false
    /// Whether any certificate is accepted. If not, the server's chain must end in the system's authorities or in
    /// ``authorities``.
    public var isInsecure = false
    /// The path of a file of certificates in PEM that replaces the system's authorities.
    public var authorities: String?
    /// The seed of all random choices: the same seed makes the same choices.
    public var seed: UInt64 = 1
    /// What each virtual user does in a visit. It is called on a task that prefers the user's loop, again and again in
    /// a closed loop, and once for each instant of a ``rate``. A visit that throws has ended. A visit that is under way
    /// at the run's end gets a `CancellationError`.
    public var visit: (@Sendable (_ user: LoadUser) async throws -> Void)?
    /// The names that requests of visits may have (``LoadRequest/name``), at most 100: each has figures of
    /// its own in ``LoadReport/names`` and in every report.
    public var names: [String] = []

    /// A part of a run with a rate of its own.
    public struct Stage: Hashable, Sendable {
        /// How long the stage lasts: more than 0, at most 744 hours.
        public var duration: Duration
        /// The rate at the stage's end, in requests a second.
        public var rate: Double
        /// Whether the rate changes evenly to ``rate``, from that of the stage before, or from 0 in the first stage. If
        /// not, it is ``rate`` throughout.
        public var isRamp: Bool

        /// A stage of that length and rate. ``LoadTest/run()`` checks both.
        public init(_ duration: Duration, rate: Double, isRamp: Bool = false) {
            (self.duration, self.rate, self.isRamp) = (duration, rate, isRamp)
        }
    }

    /// A test with every setting at its default.
    public init(url: String? = nil) { self.url = url }

    /// Runs the test, and blocks the calling thread until the run is over. Any thread but an event loop's may call it.
    ///
    /// - Throws: ``LoadTestError``, before the first connect: a setting, the machine's limits, the certificates or a
    ///   host name do not allow the run. What fails while it runs is counted in the report.
    public func run() throws(LoadTestError) -> LoadReport {
        LoadReport(try options().run())
    }

    private func options() throws(LoadTestError) -> LoadOptions {
        let target = try url.map { url throws(LoadTestError) in try TargetURL(url) }
        let description = try RequestDescription(
            method: method,
            target: target?.target ?? RunPlan.embeddedTarget(method, hasBody: body != nil),
            hostField: target?.hostField ?? "localhost",
            headers: headers.map { "\($0.name): \($0.value)" },
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
        options.redirects = max(0, redirects)
        options.keepsCookies = keepsCookies
        (options.visit, options.visitNames) = (visit, names)
        if target?.isSecure == true { options.security = try security() }
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
            var parts: [LoadStage<Rate>] = []
            var length: UInt64 = 0
            for stage in stages {
                let to = stage.rate == 0 ? Rate.zero : try Self.rate(stage.rate)
                let span = try Self.nanoseconds(stage.duration, .stages)
                length += span
                guard length <= LoadOptions.longest else { throw .time(.stages) }
                let from = stage.isRamp ? parts.last?.to ?? .zero : to
                parts.append(LoadStage(duration: span, from: from, to: to))
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
        configuration.verifiesServers = !isInsecure
        if let authorities { configuration.roots = TrustRoots([.file(authorities)]) }
        configuration.ticketsPerHost = max(configuration.ticketsPerHost, connections)
        do throws(TLSError) {
            var security = SecurityOptions()
            security.target = try TLSContext(configuration)
            security.givenRoots = authorities.map { "authorities \(quoted($0))" }
            return security
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
