public import URLLoading

/// Parameters as a JSON text in the body (RFC 8259). Those of requests that have none by their method go into the
/// query. Without parameters there is no body and no content type.
public struct JSONRequestSerializer: RequestSerializer {
    /// How values are written.
    public var json: JSONEncoding
    /// Where parameters go, how a query is written, and the defaults of all requests. With
    /// ``ParameterPlacement/body`` there, parameters are a JSON text whatever the method.
    public var http: HTTPRequestSerializer

    /// - Parameters:
    ///   - json: how values are written.
    ///   - http: serves the methods whose parameters go into the query, and has the default fields.
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
