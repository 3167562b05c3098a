public import URLLoading

/// Defines the credentials of one service for an ``AuthenticationInterceptor``.
public protocol Authenticator: Sendable {
    /// What authenticates a request, such as a token with its expiry date.
    associatedtype Credential: Sendable

    /// Puts the credential into a request.
    func apply(_ credential: Credential, to request: inout URLRequest)

    /// Returns a new credential for one that is no longer accepted. At most one refresh is under way at a time, however
    /// many requests wait for it.
    func refresh(_ credential: Credential) async throws -> Credential

    /// Whether the credential is about to expire and should be refreshed before it is used.
    func needsRefresh(_ credential: Credential) -> Bool

    /// Whether an attempt failed because of its credential. By default, a status of 401.
    func isAuthenticationFailure(_ failure: FailedAttempt) -> Bool

    /// Whether a request was sent with this very credential. A request with an older credential is only sent again.
    func isRequest(_ request: URLRequest, authenticatedWith credential: Credential) -> Bool
}

extension Authenticator {
    /// False: a credential is refreshed only after a server has refused it.
    public func needsRefresh(_ credential: Credential) -> Bool { false }

    /// True for an answer with the status 401.
    public func isAuthenticationFailure(_ failure: FailedAttempt) -> Bool {
        if case .validation(let refusal) = failure.error { refusal.status == 401 } else { false }
    }
}

/// Why an ``AuthenticationInterceptor`` ended a request.
@frozen public enum AuthenticationFailure: Error, Sendable {
    /// The interceptor has no credential.
    case missingCredential
    /// The window allows no further refresh: the service refuses fresh credentials, or the refreshes fail.
    case excessiveRefresh
    /// The refresh that this request waited for failed. The next request that needs one begins another.
    case refreshFailed(any Error)
}

extension AuthenticationFailure: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .missingCredential: "there is no credential to send the request with"
        case .excessiveRefresh: "the credential needs another refresh, but the window allows no more"
        case .refreshFailed(let error): "the credential could not be refreshed: \(ErrorText.of(error))"
        }
    }

    public var errorDescription: String? { description }
}
