public import URLLoading

/// A request of any kind, as a value. A manager completes it with its base URL and its serializer.
public struct HTTPRequest: Sendable {
    /// The `URLRequest` that the request was made of; nil for any other request.
    let whole: URLRequest?
    /// The method. By default GET.
    public var method: HTTPMethod
    /// A URL, or a reference that is resolved against the manager's base URL (RFC 3986 §5).
    public var path: String
    /// The values that the serializer puts into the query or the content. Beside a ``body``, they go into the query.
    public var parameters: Parameters?
    /// Header fields. They are set last and replace fields of the serializer.
    public var headers: HTTPHeaders
    /// The content.
    public var body: RequestBody
    /// Writes the parameters; nil for the manager's serializer.
    public var serializer: (any RequestSerializer)?
    /// The settings of this request that differ from its manager's.
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

    /// A complete request: serializers add nothing to it. Interceptors, retries and monitors apply to it as to any
    /// request. Properties that are set later apply too: a field in ``headers`` replaces the request's own field, and a
    /// ``body`` its content.
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

    /// Whether the content can be sent again.
    var isReplayable: Bool {
        if case .parameters = body, let whole { whole.isReplayable } else { body.isReplayable }
    }

    /// The error of a request whose content would have to be sent again and cannot be.
    var notReplayable: UncurlError {
        let isForm = if case .multipart = body { true } else { whole?.content != nil }
        return isForm ? .multipart(.notReplayable) : .bodyNotReplayable
    }

    /// A GET request. A string literal makes one too.
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
