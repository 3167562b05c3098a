public import URLLoading
internal import UncurlSemantics
internal import UncurlText

/// Sends a request again after a failure that may be temporary. Only the listed methods are retried, up to a limit,
/// with growing delays.
///
/// A status code is a failure only if the validation refuses it: a serializer that accepts a 503 gets it.
public struct RetryPolicy: RequestInterceptor {
    /// How a delay varies, so that many clients do not retry at the same moment.
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
    /// The factor between delays. The first retry waits `scale`, each further one `base` times as long as the one
    /// before, up to `maximumDelay`.
    public var base: Double
    /// The delay before the first retry.
    public var scale: Duration
    /// The longest delay.
    public var maximumDelay: Duration
    /// How a delay varies.
    public var jitter: Jitter
    /// The longest Retry-After (RFC 9110 §10.2.3) that is obeyed. It replaces a shorter delay. A request whose answer
    /// names a longer one is not retried.
    public var maximumRetryAfter: Duration
    /// The methods that are retried.
    public var retryableMethods: Set<HTTPMethod>
    /// The statuses that are retried.
    public var retryableStatusCodes: Set<Int>
    /// The network errors that are retried.
    public var retryableErrorCodes: Set<URLError.Code>
    /// Returns a random number from 0 to 1.
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
        retryableMethods: Set<HTTPMethod> = RetryPolicy.idempotentMethods,
        retryableStatusCodes: Set<Int> = RetryPolicy.defaultRetryableStatusCodes,
        retryableErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableErrorCodes
    ) {
        self.limit = limit
        self.base = base
        self.scale = scale
        self.maximumDelay = maximumDelay
        self.jitter = jitter
        self.maximumRetryAfter = maximumRetryAfter
        self.retryableMethods = retryableMethods
        self.retryableStatusCodes = retryableStatusCodes
        self.retryableErrorCodes = retryableErrorCodes
    }

    /// Retries only after a lost connection.
    public static func connectionLost(limit: Int = 2) -> RetryPolicy {
        RetryPolicy(limit: limit, retryableStatusCodes: [], retryableErrorCodes: [.networkConnectionLost])
    }

    /// The idempotent methods (RFC 9110 §9.2.2).
    public static let idempotentMethods = HTTPMethod.idempotent
    /// Request Timeout, Too Many Requests, and temporary errors of the server.
    public static let defaultRetryableStatusCodes: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// Errors that may not occur in a later attempt; the same as Alamofire's.
    public static let defaultRetryableErrorCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse,
        .callIsActive, .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed,
        .dnsLookupFailed, .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
        .internationalRoamingOff, .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed,
        .serverCertificateHasBadDate, .serverCertificateNotYetValid, .timedOut,
    ]

    public func retry(_ failure: FailedAttempt) async -> RetryDecision {
        guard failure.attempt.retryCount < limit, failure.isReplayable, isPassing(failure) else { return .doNotRetry }
        let method = failure.request?.httpMethod ?? "GET"
        guard retryableMethods.contains(HTTPMethod(rawValue: method)) else { return .doNotRetry }
        let own = delay(failure.attempt.retryCount)
        guard let asked = retryAfter(failure.response) else { return .retryAfter(own) }
        guard asked <= maximumRetryAfter else { return .doNotRetry }
        return .retryAfter(max(own, asked))
    }

    private func isPassing(_ failure: FailedAttempt) -> Bool {
        switch failure.error {
        case .transport(let error): retryableErrorCodes.contains(error.code)
        case .validation(let refusal): refusal.status.map(retryableStatusCodes.contains) ?? false
        default: false
        }
    }

    func delay(_ retryCount: Int) -> Duration {
        let longest = maximumDelay.inSeconds
        let grown = scale.inSeconds * pow(base, Double(min(retryCount, 64)))
        let delay = max(0, min(grown.isFinite ? grown : longest, longest))
        switch jitter {
        case .none: return .seconds(delay)
        case .full: return .seconds(delay * random())
        case .half: return .seconds(delay * (0.5 + random() / 2))
        }
    }

    /// The field's value: a number of seconds, or a date.
    private func retryAfter(_ response: HTTPURLResponse?) -> Duration? {
        let now = now().timeIntervalSince1970
        let value = response?.value(forHTTPHeaderField: "Retry-After")
        return value.flatMap { RetryAfter($0, now: Int64(exactly: now.rounded(.down)) ?? 0) }?.delay(at: now)
    }
}

extension RetryPolicy: CustomStringConvertible {
    public var description: String {
        described(
            Self.self,
            [
                "limit": limit, "base": base, "scale": scale, "maximumDelay": maximumDelay, "jitter": jitter,
                "maximumRetryAfter": maximumRetryAfter, "retryableMethods": retryableMethods.map(\.rawValue).sorted(),
                "retryableStatusCodes": retryableStatusCodes.sorted(),
                "retryableErrorCodes": retryableErrorCodes.map(\.rawValue).sorted(),
            ]
        )
    }
}

/// After a failure that says that there was no network, sends a request again once one is available.
///
/// A request that never reached its host is sent again whatever its method. After a lost connection, only a request
/// with an idempotent method is sent again (RFC 9110 §9.2.2).
public struct OfflineRetrier: RequestInterceptor {
    /// The longest wait for a network. After it the request fails with its original error.
    public var maximumWait: Duration
    /// The most retries of one request.
    public var limit: Int
    /// Measures the wait.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Returns when a network is available.
    private let path: @Sendable () async throws -> Void

    /// A retrier.
    ///
    /// - Parameters:
    ///   - maximumWait: the longest wait for a network.
    ///   - limit: the most retries of one request.
    ///   - reachability: says when a network is available. Nil: the retrier itself watches for any network.
    public init(
        maximumWait: Duration = .seconds(5),
        limit: Int = 1,
        reachability: ReachabilityManager? = nil
    ) {
        self.init(maximumWait: maximumWait, limit: limit) {
            try await (reachability ?? ReachabilityManager()).waitUntilReachable()
        }
    }

    init(maximumWait: Duration, limit: Int, path: @escaping @Sendable () async throws -> Void) {
        self.maximumWait = maximumWait
        self.limit = limit
        self.path = path
    }

    public func retry(_ failure: FailedAttempt) async -> RetryDecision {
        guard failure.error.isConnectivity, failure.isReplayable, failure.attempt.retryCount < limit else {
            return .doNotRetry
        }
        let method = HTTPMethod(rawValue: failure.request?.httpMethod ?? "GET")
        if failure.error.urlError?.code == .networkConnectionLost, !method.isIdempotent {
            return .doNotRetry
        }
        return await isOnline() ? .retry : .doNotRetry
    }

    private func isOnline() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            let (path, clock, wait) = (path, clock, maximumWait)
            group.addTask { (try? await path()) != nil }
            group.addTask {
                _ = try? await clock.sleep(for: wait.bounded)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}

extension OfflineRetrier: CustomStringConvertible {
    public var description: String { described(Self.self, ["maximumWait": maximumWait, "limit": limit]) }
}
