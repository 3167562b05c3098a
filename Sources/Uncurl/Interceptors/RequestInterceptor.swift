public import URLLoading

/// Stands between a request and its attempts: changes what is sent, and decides what becomes of a failure.
///
/// Those of the manager come before those of the request, each kind in order. The first that throws ends the request; the first whose
/// decision is not ``RetryDecision/doNotRetry`` decides.
///
/// One that sends requests itself is asked about those too if they go through the same manager. Where sixteen wait for each other, the last request
/// fails with ``InterceptionFailure/tooDeep(limit:)``.
public protocol RequestInterceptor: Sendable {
    /// Called before each attempt, with the request as it was built.
    func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest

    /// Called after each attempt that failed, unless somebody cancelled it.
    func retry(_ failure: FailedAttempt) async -> RetryDecision
}

extension RequestInterceptor {
    public func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest { request }

    public func retry(_ failure: FailedAttempt) async -> RetryDecision { .doNotRetry }
}

/// One of the times that a request is sent.
public struct RequestAttempt: Hashable, Sendable {
    /// Unique in the process.
    public let transfer: Int
    /// How often it was sent before.
    public let retryCount: Int
}

/// An attempt that failed, with all that came of it.
public struct FailedAttempt: Sendable {
    public let attempt: RequestAttempt
    /// Nil where none could be built.
    public let request: URLRequest?
    public let response: HTTPURLResponse?
    public let data: Data
    public let error: UncurlError
    /// False: the content has been read from a stream that is used up.
    public let isReplayable: Bool
}

public enum RetryDecision: Sendable {
    case retry
    case retryAfter(Duration)
    /// The next interceptor is asked.
    case doNotRetry
    /// The request fails with ``UncurlError/retry(_:original:)``.
    case doNotRetryWithError(any Error)
}

/// An interceptor made of closures.
public struct ClosureInterceptor: RequestInterceptor {
    private let change: (@Sendable (URLRequest, RequestAttempt) async throws -> URLRequest)?
    private let decide: (@Sendable (FailedAttempt) async -> RetryDecision)?

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

extension RequestInterceptor where Self == ClosureInterceptor {
    public static func adapting(
        _ change: @escaping @Sendable (URLRequest, RequestAttempt) async throws -> URLRequest
    ) -> ClosureInterceptor { ClosureInterceptor(adapt: change) }

    public static func retrying(
        _ decide: @escaping @Sendable (FailedAttempt) async -> RetryDecision
    ) -> ClosureInterceptor { ClosureInterceptor(retry: decide) }
}
