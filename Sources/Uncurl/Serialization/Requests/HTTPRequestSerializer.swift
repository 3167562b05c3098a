public import URLLoading

/// Parameters as a query, or as a form in the body (`application/x-www-form-urlencoded`).
public struct HTTPRequestSerializer: RequestSerializer {
    /// How parameters become text.
    public enum Query: Sendable {
        case encoded(QueryEncoding)
        /// Any other way. What it throws ends the request before anything is sent.
        case custom(@Sendable (URLRequest, Parameters) throws -> String)
    }

    public var defaults: RequestDefaults
    public var query: Query
    public var placement: ParameterPlacement
    /// Methods whose parameters go into the query, in upper case.
    public var queryMethods: Set<String>
    /// Of the body. Percent-encoding is of UTF-8 octets whatever this is.
    public var stringEncoding: String.Encoding

    public init(
        defaults: RequestDefaults = RequestDefaults(),
        query: Query = .encoded(QueryEncoding()),
        placement: ParameterPlacement = .byMethod,
        queryMethods: Set<String> = ["GET", "HEAD", "DELETE"],
        stringEncoding: String.Encoding = .utf8
    ) {
        self.defaults = defaults
        self.query = query
        self.placement = placement
        self.queryMethods = queryMethods
        self.stringEncoding = stringEncoding
    }

    public func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
        request
    }
}
