public import URLLoading

/// A request of any kind as a value. A manager completes it with its base URL and its serializer.
public struct HTTPRequest: Sendable {
    /// What the request begins with, where it was made of a `URLRequest`.
    let whole: URLRequest?
    /// The method, GET unless said otherwise.
    public var method: HTTPMethod
    /// A URL, or a reference that is resolved against the manager's base URL (RFC 3986 §5).
    public var path: String
    /// What the serializer puts into the query or into the content. Beside a ``body`` of its own they go into the
    /// query.
    public var parameters: Parameters?
    /// Set last: they replace what serializers have set.
    public var headers: HTTPHeaders
    /// Where the content comes from.
    public var body: RequestBody
    /// Nil: the manager's.
    public var serializer: (any RequestSerializer)?
    /// What this request does otherwise than its manager.
    public var options: RequestOptions

    /// A request. Each argument is described at the property of its name.
    public init(
        _ method: HTTPMethod,
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody = .parameters,
        serializer: (any RequestSerializer)? = nil,
        options: RequestOptions = RequestOptions()
    ) {
        whole = nil
        self.method = method
        self.path = path
        self.parameters = parameters
        self.headers = headers
        self.body = body
        self.serializer = serializer
        self.options = options
    }

    /// A request that is complete: serializers add nothing to it. It goes the way of all requests, with interceptors,
    /// retries and monitors. What is set on it from here on counts: a field in ``headers`` replaces the request's own,
    /// and a ``body`` its content.
    public init(_ request: URLRequest, options: RequestOptions = RequestOptions()) {
        whole = request
        method = HTTPMethod(rawValue: request.httpMethod ?? "GET")
        path = request.url?.absoluteString ?? ""
        parameters = nil
        headers = HTTPHeaders()
        body = .parameters
        serializer = nil
        self.options = options
    }

    /// Whether the content can be had once more.
    var isReplayable: Bool { body.isReplayable && whole?.httpBodyStream == nil }

    /// A GET. A string literal is one too.
    public init(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions()
    ) {
        self.init(.get, path, parameters: parameters, headers: headers, options: options)
    }
}

extension HTTPRequest: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self.init(value) }
}
