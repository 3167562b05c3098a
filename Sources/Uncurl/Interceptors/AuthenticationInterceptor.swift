internal import Synchronization
public import URLLoading

/// Puts a credential into each request, and refreshes it once for all requests that need a new one.
///
/// Requests that begin during a refresh wait for it. A request that is refused with an older credential is sent again
/// at once; a refusal of the current credential begins a refresh. A failed refresh ends the requests that waited for
/// it; the next request begins another one, within the limit of the ``RefreshWindow``. A refresh that takes longer than
/// ``refreshLimit`` has failed; the credential that it still returns is used if there is no newer one. Requests that
/// the authenticator sends during its refresh get no credential.
public final class AuthenticationInterceptor<Scheme: Authenticator>: RequestInterceptor {
    /// Limits how often a credential is refreshed within an interval.
    public struct RefreshWindow: Hashable, Sendable {
        /// How far back refreshes are counted.
        public var interval: Duration
        /// The most refreshes within the interval.
        public var limit: Int

        /// A window of 30 seconds with five refreshes, unless said otherwise.
        public init(interval: Duration = .seconds(30), limit: Int = 5) {
            self.interval = interval
            self.limit = limit
        }
    }

    /// The version grows with each credential, so that facts about one credential are not used for the next. All
    /// requests wait for the refresh under way; a cancelled request does not cancel it.
    private typealias State = (
        credential: Scheme.Credential?, version: Int, refresh: Task<Void, any Error>?,
        refreshes: [ContinuousClock.Instant]
    )

    /// How long a refresh may take. After it, the requests that waited fail with
    /// ``AuthenticationFailure/refreshFailed(_:)`` of `URLError.timedOut`, and the refresh is cancelled.
    public let refreshLimit: Duration
    private let authenticator: Scheme
    private let window: RefreshWindow?
    private let state: Mutex<State>

    /// An interceptor that uses one credential for all requests.
    ///
    /// - Parameters:
    ///   - authenticator: puts credentials into requests and refreshes them.
    ///   - credential: the first credential. With nil, each request fails until one is set.
    ///   - window: limits the refreshes; nil sets no limit.
    ///   - refreshLimit: how long a refresh may take; by default 60 seconds.
    public init(
        authenticator: Scheme,
        credential: Scheme.Credential? = nil,
        window: RefreshWindow? = RefreshWindow(),
        refreshLimit: Duration = .seconds(60)
    ) {
        self.authenticator = authenticator
        self.refreshLimit = refreshLimit
        self.window = window
        state = Mutex((credential, 0, nil, []))
    }

    /// The current credential. Setting it discards what is known of the previous one, and the result of a refresh under
    /// way.
    public var credential: Scheme.Credential? {
        get { state.withLock { $0.credential } }
        set {
            change { state in
                state.credential = newValue
                state.version += 1
                state.refresh = nil
            }
        }
    }

    public func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest {
        // The credential is not for the origin to which a redirect has led a resumed download.
        if isWithinRefresh || request.hasLeftOrigin { return request }
        var (credential, version) = try current()
        if isRefreshing || authenticator.needsRefresh(credential) {
            credential = try await refreshed(credential, version)
        }
        var request = request
        authenticator.apply(credential, to: &request)
        return request
    }

    public func retry(_ failure: FailedAttempt) async -> RetryDecision {
        if isWithinRefresh { return .doNotRetry }
        guard authenticator.isAuthenticationFailure(failure), let request = failure.request else { return .doNotRetry }
        guard !request.hasLeftOrigin else { return .doNotRetry }
        do {
            let (credential, version) = try current()
            // The request was sent with an older credential.
            guard authenticator.isRequest(request, authenticatedWith: credential) else { return .retry }
            _ = try await refreshed(credential, version)
            return .retry
        } catch {
            return .doNotRetryWithError(error)
        }
    }

    private func current() throws(AuthenticationFailure) -> (credential: Scheme.Credential, version: Int) {
        let (credential, version) = state.withLock { ($0.credential, $0.version) }
        guard let credential else { throw .missingCredential }
        return (credential, version)
    }

    /// Whether the authenticator itself sends this request, to refresh the credential. The refresh waits for the
    /// request, so the request cannot wait for the refresh.
    private var isWithinRefresh: Bool { RequestAttempt.refreshing.contains(ObjectIdentifier(self)) && isRefreshing }

    private var isRefreshing: Bool { state.withLock { $0.refresh != nil } }

    /// The credential that replaces `used`: the current one if it is newer, else the result of the refresh under way,
    /// else of a refresh that begins now. A credential that is set during the refresh replaces its result.
    private func refreshed(_ used: Scheme.Credential, _ version: Int) async throws -> Scheme.Credential {
        let task = try state.withLock { state throws(AuthenticationFailure) -> Task<Void, any Error>? in
            if let task = state.refresh { return task }
            // The credential was refreshed meanwhile, so `used` cannot be refreshed again.
            return state.version == version ? try begin(&state, used) : nil
        }
        do {
            try await task?.valueUnlessCancelled()
        } catch let failure as AuthenticationFailure {
            throw failure
        } catch is CancellationError where Task.isCancelled {
            throw CancellationError()
        } catch {
            throw AuthenticationFailure.refreshFailed(error)
        }
        return try current().credential
    }

    private func begin(
        _ state: inout State,
        _ used: Scheme.Credential
    ) throws(AuthenticationFailure) -> Task<Void, any Error> {
        if let window {
            let now = ContinuousClock.now
            state.refreshes.removeAll { $0.duration(to: now) > window.interval }
            guard state.refreshes.count < window.limit else { throw .excessiveRefresh }
            state.refreshes.append(now)
        }
        let version = state.version
        let work = Task { [self] in
            let fresh = try await RequestAttempt.refreshing(for: self) { try await authenticator.refresh(used) }
            settle(version) { state in
                state.credential = fresh
                state.version += 1
                state.refresh = nil
            }
        }
        let task = Task { [self] in
            do {
                let words = "The credential was not refreshed within \(refreshLimit)."
                try await work.value(within: refreshLimit, or: words)
            } catch {
                work.cancel()
                if settle(version, { $0.refresh = nil }) { throw error }
            }
        }
        state.refresh = task
        return task
    }

    /// The result of a refresh, also its failure, applies only to the credential that the refresh began with.
    ///
    /// - Returns: whether it applies.
    @discardableResult
    private func settle(_ version: Int, _ body: (inout State) -> Void) -> Bool {
        var applies = false
        change { state in
            applies = state.version == version
            if applies { body(&state) }
        }
        return applies
    }

    /// Releasing a value may run the program's code, so it does not happen under the lock.
    private func change(_ body: (inout State) -> Void) {
        let old = state.withLock { state in
            let old = state
            body(&state)
            return old
        }
        withExtendedLifetime(old) {}
    }
}

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
        case .refreshFailed(let error): "the credential could not be refreshed: \(error.sentence)"
        }
    }

    public var errorDescription: String? { description }
}
