public import URLLoading

/// Parameters as a property list in the body; for ``HTTPRequestSerializer/queryMethods`` as a query.
public struct PropertyListRequestSerializer: RequestSerializer {
    public var format: PropertyListSerialization.PropertyListFormat
    /// What requests without a body get, and the defaults of all.
    public var http: HTTPRequestSerializer

    public init(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        http: HTTPRequestSerializer = HTTPRequestSerializer()
    ) {
        self.format = format
        self.http = http
    }

    public func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
        request
    }
}
