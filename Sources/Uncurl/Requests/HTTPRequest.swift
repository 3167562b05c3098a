/// A request as somebody wants it: one value for every kind, which a manager completes by its base URL and its serializer.
public struct HTTPRequest: Sendable {
    public var method: HTTPMethod
    /// A URL, or a reference that is resolved against the manager's base URL (RFC 3986 §5).
    public var path: String
    public var parameters: Parameters?
    /// Set last: they replace what serializers have set.
    public var headers: HTTPHeaders
    public var body: RequestBody
    /// Nil: the manager's.
    public var serializer: (any RequestSerializer)?
    public var options: RequestOptions

    public init(
        _ method: HTTPMethod,
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody = .parameters,
        serializer: (any RequestSerializer)? = nil,
        options: RequestOptions = RequestOptions()
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.headers = headers
        self.body = body
        self.serializer = serializer
        self.options = options
    }

    /// A GET.
    public init(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions()
    ) {
        self.init(.get, path, parameters: parameters, headers: headers, options: options)
    }
}
