public import URLLoading

/// A session manager for one service: requests are references to its base URL, and their parameters go through one
/// serializer.
///
/// ```swift
/// let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1")!)
/// let user = try await manager.get("users/1", as: User.self)
/// ```
open class HTTPSessionManager: URLSessionManager, @unchecked Sendable {
    /// A manager for one service.
    ///
    /// - Parameters:
    ///   - baseURL: where references are resolved (RFC 3986 §5); a path without a slash at its end gets one. Nil:
    ///     requests name whole URLs.
    ///   - configuration: that of the session. It is copied.
    ///   - hooks: the ``URLSessionManager/hooks``, from the first event on.
    ///   - sessionHooks: the ``URLSessionManager/sessionHooks``, likewise.
    public init(
        baseURL: URL? = nil,
        configuration: URLSessionConfiguration = .default,
        hooks: TaskHooks = TaskHooks(),
        sessionHooks: SessionHooks = SessionHooks()
    ) {
        super.init(baseURL.map { BaseURL($0) }, configuration, hooks, sessionHooks)
    }

    /// A manager with the same base URL, configuration, serializers, defaults and policy. Hooks are not copied.
    public init(copying other: HTTPSessionManager) { super.init(copying: other as URLSessionManager) }

    /// Resolves references against a base URL. Nil: requests name whole URLs.
    public var baseURL: URL? { base?.url }

    /// Puts parameters into requests. An ``HTTPRequestSerializer`` unless set.
    public var requestSerializer: any RequestSerializer {
        get { core.requestSerializer }
        set { core.requestSerializer = newValue }
    }

    /// What every request of this manager gets, whichever serializer it goes through. Nothing unless set.
    ///
    /// A request's own fields and options come before these, and these before the serializer's defaults. A request
    /// made of a `URLRequest` gets none of them. A change counts for requests made after it; each access is atomic, a
    /// change of a part of the value is not.
    public var requestDefaults: RequestDefaults {
        get { core.requestDefaults }
        set { core.requestDefaults = newValue }
    }

    /// - Throws: ``SecurityPolicyError/pinsWithoutTLS(base:)`` for a policy that pins where the base URL is not https:
    ///   nothing would be compared.
    open override func setSecurityPolicy(_ policy: any ServerTrustEvaluator) throws(SecurityPolicyError) {
        if policy.isPinning, baseURL?.scheme?.lowercased() != "https" {
            throw .pinsWithoutTLS(base: baseURL)
        }
        try super.setSecurityPolicy(policy)
    }
}
