public import URLLoading

/// A session manager for one service. Requests name references that are resolved against its base URL, and one
/// serializer writes their parameters.
///
/// ```swift
/// let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1")!)
/// let user = try await manager.get("users/1", as: User.self)
/// ```
open class HTTPSessionManager: URLSessionManager, @unchecked Sendable {
    /// A manager for one service.
    ///
    /// - Parameters:
    ///   - baseURL: the URL that references are resolved against (RFC 3986 §5). A slash is added to a path without one
    ///     at its end. Only a reference with a scheme names another host; one that begins with `//` is an error. Nil:
    ///     requests name whole URLs.
    ///   - configuration: the session's configuration. It is copied. If its `httpCookieStorage` was not set, the
    ///     manager has a storage of its own, in memory: see <doc:Cookies>.
    ///   - hooks: the ``URLSessionManager/hooks``, set before the first event.
    ///   - sessionHooks: the ``URLSessionManager/sessionHooks``, set before the first event.
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

    /// The URL that references are resolved against. Nil: requests name whole URLs.
    public var baseURL: URL? { base?.url }

    /// Whether a reference may lead only to the base URL's origin: its scheme, host and port (RFC 9110 §4.3.1). A
    /// reference to another origin, such as `http://other.example/users`, then fails with
    /// ``UncurlError/invalidURL(_:reason:)``. By default false: a whole URL replaces the base URL, and the manager's
    /// fields go to its server. Set it where references contain what others wrote.
    ///
    /// Redirects are not references: see ``URLSessionManager/redirects``. A request made of a `URLRequest` is sent as
    /// it is.
    public var staysAtBaseOrigin: Bool {
        get { core.staysAtBaseOrigin }
        _modify { yield &core.staysAtBaseOrigin }
    }

    /// Puts parameters into requests. By default an ``HTTPRequestSerializer``.
    public var requestSerializer: any RequestSerializer {
        get { core.requestSerializer }
        _modify { yield &core.requestSerializer }
    }

    /// What every request of this manager gets, whichever serializer it uses. By default nothing.
    ///
    /// A request's own fields and options come before these, and these before the serializer's defaults. A request made
    /// of a `URLRequest` gets none of them. A change applies to requests that are made after it. Changes on several
    /// threads are all kept.
    public var requestDefaults: RequestDefaults {
        get { core.requestDefaults }
        _modify { yield &core.requestDefaults }
    }

    /// - Throws: ``SecurityPolicyError/pinsWithoutTLS(base:)`` for a policy that pins where the base URL is not https:
    ///   there would be no certificate to compare.
    open override func setSecurityPolicy(_ policy: any ServerTrustEvaluator) throws(SecurityPolicyError) {
        if policy.isPinning, baseURL?.scheme?.lowercased() != "https" {
            throw .pinsWithoutTLS(base: baseURL)
        }
        try super.setSecurityPolicy(policy)
    }
}
