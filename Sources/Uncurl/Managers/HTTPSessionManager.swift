internal import Synchronization
public import URLLoading

/// A session manager for one service: requests are references to its base URL, and their parameters go through one
/// serializer.
///
/// ```swift
/// let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1")!)
/// let user = try await manager.get("users/1", as: User.self)
/// ```
open class HTTPSessionManager: URLSessionManager, @unchecked Sendable {
    private let base: BaseURL?
    private let built = Mutex<BuiltRequest?>(nil)

    /// A manager for one service.
    ///
    /// - Parameters:
    ///   - baseURL: where references are resolved (RFC 3986 §5); a path without a slash at its end gets one. Nil:
    ///     requests name whole URLs.
    ///   - configuration: that of the session. It is copied.
    public init(baseURL: URL? = nil, configuration: URLSessionConfiguration = .default) {
        base = baseURL.map { BaseURL($0) }
        super.init(configuration: configuration)
    }

    /// A manager with the same base URL, configuration, serializers and policy. Hooks are not copied.
    public init(copying other: HTTPSessionManager) {
        base = other.base
        super.init(copying: other)
    }

    /// Resolves references against a base URL. Nil: requests name whole URLs.
    public var baseURL: URL? { base?.url }

    /// Puts parameters into requests. An ``HTTPRequestSerializer`` unless set.
    public var requestSerializer: any RequestSerializer {
        get { core.requestSerializer }
        set { core.requestSerializer = newValue }
    }

    /// - Throws: ``SecurityPolicyError/pinsWithoutTLS(base:)`` for a policy that pins where the base URL is not https:
    ///   nothing would be compared.
    open override func setSecurityPolicy(_ policy: any ServerTrustEvaluator) throws(SecurityPolicyError) {
        if policy.isPinning, baseURL?.scheme?.lowercased() != "https" {
            throw .pinsWithoutTLS(base: baseURL)
        }
        try super.setSecurityPolicy(policy)
    }

    // MARK: Requests

    /// The request as it is sent, without the changes of interceptors.
    public func urlRequest(for request: HTTPRequest) throws(UncurlError) -> URLRequest {
        let plan = try taskPlan(for: request, core.settings)
        if let made = plan.request { return made }
        return URLRequest(url: try url(for: request.path))
    }

    /// The URL of a reference, resolved against the base URL.
    public func url(for path: String) throws(UncurlError) -> URL {
        guard let base else { return try BaseURL.absolute(path) }
        return try base.resolve(path)
    }

    func taskPlan(for request: HTTPRequest, _ settings: ManagerCore.Snapshot) throws(UncurlError) -> TaskPlan {
        if let built = built.withLock({ $0 }), built.serves(request, settings) {
            return TaskPlan(
                kind: .data,
                request: built.request,
                behavior: request.options.behavior(),
                priority: request.options.priority
            )
        }
        let plan = try freshPlan(for: request, settings.requestSerializer)
        if let made = plan.request, let new = BuiltRequest(made, for: request, settings) {
            let old = built.withLock { built in
                let old = built
                built = new
                return old
            }
            withExtendedLifetime(old) {}
        }
        return plan
    }

    private func freshPlan(
        for request: HTTPRequest,
        _ serializer: any RequestSerializer
    ) throws(UncurlError) -> TaskPlan {
        var made = URLRequest(url: try url(for: request.path))
        made.httpMethod = request.method.rawValue
        if let timeout = request.options.timeout { made.timeoutInterval = timeout }
        if let policy = request.options.cachePolicy { made.cachePolicy = policy }
        let serializer = request.serializer ?? serializer
        var plan = TaskPlan(kind: .data, behavior: request.options.behavior(), priority: request.options.priority)
        switch request.body {
        case .parameters: made = try serializer.serialize(request.parameters, into: made)
        case .encoded(let value, nil):
            made = try serializer.serialize(encoding: value, into: made)
        case .encoded(let value, let writer?):
            made = try serializer.serialize(query: request.parameters, into: made, nil)
            made.setValue(nil, forHTTPHeaderField: "Content-Type")
            made = try writer.serialize(encoding: value, into: made)
        case .data(let data, let type):
            made = try serializer.serialize(query: request.parameters, into: made, type)
            made.httpBody = data
        case .file(let file, let type):
            made = try serializer.serialize(
                query: request.parameters,
                into: made,
                type ?? MediaTypes.type(ofPath: file.path)
            )
            plan.kind = .uploadFile(file)
        case .stream(let length, let type, let make):
            made = try serializer.serialize(query: request.parameters, into: made, type)
            guard length ?? 0 >= 0 else { throw .header(name: "Content-Length") }
            if let length { made.setValue(String(length), forHTTPHeaderField: "Content-Length") }
            plan.kind = .uploadStream
            plan.behavior = request.options.behavior(newBodyStream: make)
        case .multipart(let form):
            made = try serializer.serialize(form, leadBy: request.parameters, into: made)
            plan.kind = .uploadStream
        }
        if let bad = request.headers.first(where: { !FieldSyntax.isValid($0) }) { throw .header(name: bad.name) }
        if !request.headers.isEmpty { made.replaceFields(by: request.headers.map { ($0.name, $0.value) }) }
        if let limit = request.options.maximumDataLength { made.maximumDataLength = limit }
        if let throttle = request.options.throttle { made.throttle = throttle }
        if let compression = request.options.compression { made = try made.compressed(compression) }
        if case .data = request.body, let data = made.httpBody { plan.kind = .uploadData(data) }
        plan.request = made
        return plan
    }
}
