public import URLLoading
internal import UncurlText

/// Changes a request before each attempt, and decides what follows a failed attempt.
///
/// The manager's interceptors come before the request's, each list in its order. The first that throws ends the
/// request. The first decision other than ``RetryDecision/doNotRetry`` applies.
///
/// An interceptor that sends requests through the same manager is called for those too. Where sixteen interceptors wait
/// for each other, the last request fails with ``InterceptionFailure/tooDeep(limit:)``.
///
/// Each call may take as long as the session's `timeoutIntervalForResource`. A call that takes longer ends its request
/// with `URLError.timedOut`, and a cancelled request ends at once; in both cases the Swift task of the call is
/// cancelled.
public protocol RequestInterceptor: Sendable {
    /// Called before each attempt, with the request as it was built.
    func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest

    /// Called after each attempt that failed, but not after a cancelled one.
    func retry(_ failure: FailedAttempt) async -> RetryDecision
}

extension RequestInterceptor {
    public func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest { request }

    public func retry(_ failure: FailedAttempt) async -> RetryDecision { .doNotRetry }
}

/// One attempt to send a request.
public struct RequestAttempt: Hashable, Sendable {
    /// Unique in the process.
    public let transfer: Int
    /// The number of earlier attempts.
    public let retryCount: Int
}

/// A failed attempt, with everything that it received.
public struct FailedAttempt: Sendable {
    /// Which of the request's attempts it was.
    public let attempt: RequestAttempt
    /// The request as it was sent, before any redirect; nil where none could be built.
    public let request: URLRequest?
    /// The answer; nil where no answer came.
    public let response: HTTPURLResponse?
    /// The content that came.
    public let data: Data
    /// Why the attempt failed.
    public let error: UncurlError
    /// Whether the content can be sent again. False: it came from a stream that has been read.
    public let isReplayable: Bool
}

/// What follows a failed attempt.
@frozen public enum RetryDecision: Sendable {
    /// The request is sent again at once.
    case retry
    /// The request is sent again after this time.
    case retryAfter(Duration)
    /// The next interceptor decides.
    case doNotRetry
    /// The request fails with ``UncurlError/retry(_:original:)``.
    case doNotRetryWithError(any Error)
}

/// An interceptor made of closures.
public struct ClosureInterceptor: RequestInterceptor {
    private let change: (@Sendable (URLRequest, RequestAttempt) async throws -> URLRequest)?
    private let decide: (@Sendable (FailedAttempt) async -> RetryDecision)?

    /// An interceptor of two closures. Without `adapt` it changes nothing; without `retry` it does not retry.
    public init(
        adapt: (@Sendable (URLRequest, RequestAttempt) async throws -> URLRequest)? = nil,
        retry: (@Sendable (FailedAttempt) async -> RetryDecision)? = nil
    ) {
        change = adapt
        decide = retry
    }

    public func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest {
        try await change?(request, attempt) ?? request
    }

    public func retry(_ failure: FailedAttempt) async -> RetryDecision { await decide?(failure) ?? .doNotRetry }
}

extension ClosureInterceptor: CustomStringConvertible {
    public var description: String { described(Self.self, ["adapt": change.elided, "retry": decide.elided]) }
}

extension RequestInterceptor where Self == ClosureInterceptor {
    /// An interceptor that only changes requests.
    public static func adapting(
        _ change: @escaping @Sendable (URLRequest, RequestAttempt) async throws -> URLRequest
    ) -> ClosureInterceptor { ClosureInterceptor(adapt: change) }

    /// An interceptor that only decides on failures.
    public static func retrying(
        _ decide: @escaping @Sendable (FailedAttempt) async -> RetryDecision
    ) -> ClosureInterceptor { ClosureInterceptor(retry: decide) }
}

/// What the current code is part of: an interceptor that sends a request through its own manager is called for that
/// request too.
extension RequestAttempt {
    /// How many interceptors may wait for each other. A credential that is fetched through a manager whose interceptor
    /// fetches another credential has a depth of two; a depth beyond 16 is an endless recursion.
    static let deepest = 16

    @TaskLocal private static var depth = 0
    /// The interceptors for which the current code refreshes a credential.
    @TaskLocal static var refreshing: Set<ObjectIdentifier> = []

    /// Runs an interceptor's code, one level deeper.
    static func within<Made>(_ body: () async throws -> Made) async throws -> Made {
        guard depth < deepest else { throw InterceptionFailure.tooDeep(limit: deepest) }
        return try await $depth.withValue(depth + 1, operation: body)
    }

    static func refreshing<Made>(for interceptor: AnyObject, _ refresh: () async throws -> Made) async throws -> Made {
        let all = refreshing.union([ObjectIdentifier(interceptor)])
        return try await $refreshing.withValue(all, operation: refresh)
    }
}

/// A wrong use of interceptors.
@frozen public enum InterceptionFailure: Error, Hashable, Sendable {
    /// An interceptor sends requests through the manager that calls it, and this many of them wait for each other.
    case tooDeep(limit: Int)
}

extension InterceptionFailure {
    /// Finds this failure beneath the error of a request that an interceptor sent, so that every level reports the same
    /// failure.
    init?(beneath error: any Error) {
        switch error {
        case let failure as InterceptionFailure: self = failure
        case UncurlError.adaptation(let cause as InterceptionFailure): self = cause
        case UncurlError.retry(let cause as InterceptionFailure, _): self = cause
        default: return nil
        }
    }
}

extension InterceptionFailure: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooDeep(let limit):
            "\(limit) interceptors wait for each other: an interceptor sends requests through the manager that calls it"
        }
    }

    public var errorDescription: String? { description }
}
