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

/// One method for each common request. Each waits for the answer and returns its value; cancelling the Swift task
/// cancels the request.
///
/// The methods with content return ``EmptyResponse`` if no type is given. It is made of any acceptable answer, whatever
/// its content: use it for a 204, and where the content does not matter.
///
/// The manager's request serializer writes the parameters. If a request has a `body`, its parameters go into the query.
/// A literal makes ``Parameters``, which keep the given order.
extension HTTPSessionManager {
    /// Sends a GET.
    ///
    /// - Parameters:
    ///   - path: a reference that is resolved against the base URL, or a URL.
    ///   - parameters: the values that the request serializer puts into the query.
    ///   - headers: fields that replace the serializer's.
    ///   - type: the type that ``URLSessionManager/decoder`` decodes.
    /// - Throws: ``UncurlError/validation(_:)`` for a status outside 200 to 299 and for a content type that the decoder
    ///   does not read, ``UncurlError/serialization(_:)`` for content that cannot be decoded,
    ///   ``UncurlError/transport(_:)`` for a failure of the network.
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.get, path, parameters: parameters, headers: headers), type)
    }

    /// Sends a GET whose parameters are a value of the program's own type.
    ///
    /// - Throws: what `get(_:parameters:headers:as:)` throws, and ``UncurlError/parameters(_:)`` for a value that
    ///   cannot be written as a query.
    @_disfavoredOverload
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.get, path, headers: headers, body: .encoded(parameters)), type)
    }

    /// Sends a HEAD and returns the head of the answer, which has no content.
    ///
    /// - Throws: what `get(_:parameters:headers:as:)` throws.
    public func head(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders()
    ) async throws(UncurlError) -> HTTPURLResponse {
        try await head(of: HTTPRequest(.head, path, parameters: parameters, headers: headers))
    }

    /// Sends a HEAD. The parameters are a value of the program's own type, and go into the query.
    ///
    /// - Throws: what the GET with such parameters throws.
    @_disfavoredOverload
    public func head(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders()
    ) async throws(UncurlError) -> HTTPURLResponse {
        try await head(of: HTTPRequest(.head, path, headers: headers, body: .encoded(parameters)))
    }

    /// Sends a POST.
    ///
    /// ```swift
    /// let made = try await manager.post("users", body: .json(User()), as: User.self)
    /// ```
    ///
    /// - Parameters:
    ///   - path: a reference that is resolved against the base URL, or a URL.
    ///   - parameters: the content, in the request serializer's format. With a `body` they go into the query, with a
    ///     form they become its first fields.
    ///   - body: the content: ``RequestBody/json(_:encoder:)``, ``RequestBody/form(_:)``, data, a file, a stream, or a
    ///     form of several parts.
    ///   - headers: fields that replace the serializer's.
    ///   - progress: called on the session's delegate queue with the progress of the request's content.
    ///   - type: the type that ``URLSessionManager/decoder`` decodes from the answer's content.
    /// - Throws: what `get(_:parameters:headers:as:)` throws, ``UncurlError/parameters(_:)`` for a value that cannot be
    ///   written, and ``UncurlError/multipart(_:)`` for a form that cannot be sent.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: .post, path, parameters, body, headers, progress, type)
    }

    /// Sends a POST whose parameters are a value of the program's own type, in the request serializer's format.
    ///
    /// - Throws: what ``post(_:parameters:body:headers:progress:as:)`` throws.
    @discardableResult
    @_disfavoredOverload
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: .post, path, nil, .encoded(parameters), headers, nil, type)
    }

    /// Sends a PUT. Arguments and errors are those of ``post(_:parameters:body:headers:progress:as:)``.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: .put, path, parameters, body, headers, progress, type)
    }

    /// Sends a PUT whose parameters are a value of the program's own type, in the request serializer's format.
    @discardableResult
    @_disfavoredOverload
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: .put, path, nil, .encoded(parameters), headers, nil, type)
    }

    /// Sends a PATCH. Arguments and errors are those of ``post(_:parameters:body:headers:progress:as:)``.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: .patch, path, parameters, body, headers, progress, type)
    }

    /// Sends a PATCH whose parameters are a value of the program's own type, in the request serializer's format.
    @discardableResult
    @_disfavoredOverload
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: .patch, path, nil, .encoded(parameters), headers, nil, type)
    }

    /// Sends a DELETE. Parameters go into the query; the other arguments and the errors are those of
    /// ``post(_:parameters:body:headers:progress:as:)``.
    @discardableResult
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: .delete, path, parameters, body, headers, nil, type)
    }

    /// Sends a DELETE. The parameters are a value of the program's own type, and go into the query.
    @discardableResult
    @_disfavoredOverload
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: .delete, path, nil, .encoded(parameters), headers, nil, type)
    }

    // MARK: Private

    private func head(of request: HTTPRequest) async throws(UncurlError) -> HTTPURLResponse {
        let response = await response(to: request, serializer: .data)
        _ = try response.result.get()
        guard let head = response.response else { throw .transport(URLError(.badServerResponse)) }
        return head
    }

    private func value<Value: Decodable & Sendable>(
        of method: HTTPMethod,
        _ path: String,
        _ parameters: Parameters?,
        _ body: RequestBody,
        _ headers: HTTPHeaders,
        _ progress: (@Sendable (TransferProgress) -> Void)?,
        _ type: Value.Type
    ) async throws(UncurlError) -> Value {
        var request = HTTPRequest(method, path, parameters: parameters, headers: headers, body: body)
        if let progress { request.options.uploadProgress = progress }
        return try await value(of: request, type)
    }

    private func value<Value: Decodable & Sendable>(
        of request: HTTPRequest,
        _ type: Value.Type
    ) async throws(UncurlError) -> Value {
        guard let nothing = EmptyResponse() as? Value else {
            return try await response(to: request, serializer: .decodable(type)).result.get()
        }
        _ = try await response(to: request, serializer: .data).result.get()
        return nothing
    }
}
