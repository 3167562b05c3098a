public import URLLoading

/// Writes parameters as a JSON text in the content (RFC 8259). For methods without content they go into the query.
/// Without parameters there is no content and no content type.
public struct JSONRequestSerializer: RequestSerializer {
    /// How values are written.
    public var json: JSONEncoding
    /// Decides where parameters go and how a query is written, and has the defaults of all requests. With
    /// ``ParameterPlacement/body``, parameters are a JSON text whatever the method.
    public var http: HTTPRequestSerializer

    /// - Parameters:
    ///   - json: how values are written.
    ///   - http: writes the queries of methods whose parameters go there, and has the default fields.
    public init(json: JSONEncoding = JSONEncoding(), http: HTTPRequestSerializer = HTTPRequestSerializer()) {
        self.json = json
        self.http = http
    }

    public func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
        try http.serialize(parameters, into: request, contentType: "application/json") {
            parameters throws(ParameterFailure) in
            try json.data(parameters)
        }
    }
}
