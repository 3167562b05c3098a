internal import HTTPSemantics
public import URLLoading

/// Sends a request again after a failure that may pass. Only its methods are retried, up to a limit, with
/// growing delays.
///
/// A status code becomes a failure by validation alone: a serializer that accepts a 503 gets it.
public struct RetryPolicy: RequestInterceptor {
    /// How a delay varies, so that many clients do not return at once.
    @frozen public enum Jitter: Hashable, Sendable {
        /// The delay as it is.
        case none
        /// Anything from zero to the whole delay.
        case full
        /// Anything from half of the delay to all of it.
        case half
    }

    /// The most retries of one request.
    public var limit: Int
    /// The first retry waits `scale`, each after it `base` times as long, none longer than `maximumDelay`.
    public var base: Double
    /// The delay before the first retry.
    public var scale: Duration
    /// The longest delay.
    public var maximumDelay: Duration
    /// How a delay varies.
    public var jitter: Jitter
    /// What a server says in Retry-After (RFC 9110 §10.2.3) counts in place of a shorter delay. One that asks for more
    /// than this is not asked again.
    public var maximumRetryAfter: Duration
    /// The methods that are sent again.
    public var methods: Set<HTTPMethod>
    /// The statuses that may pass.
    public var statusCodes: Set<Int>
    /// The errors of the network that may pass.
    public var codes: Set<URLError.Code>
    /// From 0 to 1.
    var random: @Sendable () -> Double = { .random(in: 0...1) }
    var now: @Sendable () -> Date = { Date() }

    /// Makes a policy. Each argument is described at the property of its name.
    public init(
        limit: Int = 2,
        base: Double = 2,
        scale: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(30),
        jitter: Jitter = .half,
        maximumRetryAfter: Duration = .seconds(60),
        methods: Set<HTTPMethod> = RetryPolicy.idempotentMethods,
        statusCodes: Set<Int> = RetryPolicy.passingStatusCodes,
        codes: Set<URLError.Code> = RetryPolicy.passingCodes
    ) {
        self.limit = limit
        self.base = base
        self.scale = scale
        self.maximumDelay = maximumDelay
        self.jitter = jitter
        self.maximumRetryAfter = maximumRetryAfter
        self.methods = methods
        self.statusCodes = statusCodes
        self.codes = codes
    }

    /// Only where the connection was lost.
    public static func connectionLost(limit: Int = 2) -> RetryPolicy {
        RetryPolicy(limit: limit, statusCodes: [], codes: [.networkConnectionLost])
    }

    /// RFC 9110 §9.2.2.
    public static let idempotentMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace, .query]
    /// Request Timeout, Too Many Requests, and the server's own troubles.
    public static let passingStatusCodes: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// Errors that a later attempt may not meet; the same as Alamofire's.
    public static let passingCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse,
        .callIsActive, .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed,
        .dnsLookupFailed, .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
        .internationalRoamingOff, .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed,
        .serverCertificateHasBadDate, .serverCertificateNotYetValid, .timedOut,
    ]

    public func retry(_ failure: FailedAttempt) async -> RetryDecision {
        guard failure.attempt.retryCount < limit, failure.isReplayable, isPassing(failure) else { return .doNotRetry }
        let method = failure.request?.httpMethod ?? "GET"
        guard methods.contains(HTTPMethod(rawValue: method)) else { return .doNotRetry }
        let own = delay(failure.attempt.retryCount)
        guard let asked = retryAfter(failure.response) else { return .retryAfter(own) }
        guard asked <= maximumRetryAfter else { return .doNotRetry }
        return .retryAfter(max(own, asked))
    }

    private func isPassing(_ failure: FailedAttempt) -> Bool {
        switch failure.error {
        case .transport(let error): codes.contains(error.code)
        case .validation(let refusal): refusal.status.map(statusCodes.contains) ?? false
        default: false
        }
    }

    func delay(_ retryCount: Int) -> Duration {
        let longest = maximumDelay / .seconds(1)
        let grown = (scale / .seconds(1)) * pow(base, Double(min(retryCount, 64)))
        let delay = max(0, min(grown.isFinite ? grown : longest, longest))
        switch jitter {
        case .none: return .seconds(delay)
        case .full: return .seconds(delay * random())
        case .half: return .seconds(delay * (0.5 + random() / 2))
        }
    }

    /// Seconds, or a date.
    private func retryAfter(_ response: HTTPURLResponse?) -> Duration? {
        let now = now().timeIntervalSince1970
        let value = response?.value(forHTTPHeaderField: "Retry-After")
        return value.flatMap { RetryAfter($0, now: Int64(exactly: now.rounded(.down)) ?? 0) }?.delay(at: now)
    }
}
