public import URLLoading

/// What an ``AuthenticationInterceptor`` knows of one service's credentials.
public protocol Authenticator: Sendable {
    /// What a request is authenticated with, such as a token and its end.
    associatedtype Credential: Sendable

    /// Puts the credential into a request.
    func apply(_ credential: Credential, to request: inout URLRequest)

    /// Gets a new credential for one that is used up. One at a time, whatever number of requests wait for it.
    func refresh(_ credential: Credential) async throws -> Credential

    /// Whether the credential should be refreshed before it is used: it is about to expire.
    func needsRefresh(_ credential: Credential) -> Bool

    /// Whether an attempt failed because of its credential. A 401 unless said otherwise.
    func isAuthenticationFailure(_ failure: FailedAttempt) -> Bool

    /// Whether a request was sent with this very credential: one that was sent with an older one is merely sent again.
    func isRequest(_ request: URLRequest, authenticatedWith credential: Credential) -> Bool
}

extension Authenticator {
    /// No credential needs a refresh before it is refused.
    public func needsRefresh(_ credential: Credential) -> Bool { false }

    /// An answer with the status 401.
    public func isAuthenticationFailure(_ failure: FailedAttempt) -> Bool {
        if case .validation(let refusal) = failure.error { refusal.status == 401 } else { false }
    }
}

/// Why an ``AuthenticationInterceptor`` ended a request.
@frozen public enum AuthenticationFailure: Error, Sendable {
    /// The interceptor has no credential.
    case missingCredential
    /// More refreshes are due than the window allows: the service refuses fresh credentials, or the refreshes fail.
    case excessiveRefresh
    /// The refresh that this request waited for failed. The next request that needs one begins another.
    case refreshFailed(any Error)
}

extension AuthenticationFailure: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .missingCredential: "there is no credential to send the request with"
        case .excessiveRefresh: "the credential was to be refreshed again, after as many refreshes as the window allows"
        case .refreshFailed(let error): "the credential could not be refreshed: \(ErrorText.of(error))"
        }
    }

    public var errorDescription: String? { description }
}
