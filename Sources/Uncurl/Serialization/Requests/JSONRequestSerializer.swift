public import URLLoading

/// Parameters as a JSON text in the body (RFC 8259); for ``HTTPRequestSerializer/queryMethods`` as a query.
public struct JSONRequestSerializer: RequestSerializer {
    public var json: JSONEncoding
    /// What requests without a body get, and the defaults of all.
    public var http: HTTPRequestSerializer

    public init(json: JSONEncoding = JSONEncoding(), http: HTTPRequestSerializer = HTTPRequestSerializer()) {
        self.json = json
        self.http = http
    }

    public func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
        request
    }
}

/// How parameters become a JSON text.
public struct JSONEncoding: Sendable {
    public var isPretty = false
    /// Names in alphabetical order; else as given.
    public var sortsKeys = false
    /// `/` as `\/`, for texts that are put into HTML.
    public var escapesSlashes = false
    public var keys = KeyStyle.asGiven
    public var dates = DateStyle.iso8601
    public var data = DataStyle.base64

    public init() {}

    public func data(_ parameters: Parameters) throws(ParameterFailure) -> Data { Data() }
}
