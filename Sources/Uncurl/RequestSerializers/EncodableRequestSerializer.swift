public import URLLoading

/// A body made by an encoder, of parameters or of a value; where there is no body by the method, they go into the
/// query.
public struct EncodableRequestSerializer: RequestSerializer {
    /// The encoder as it was when this serializer got it: later changes to an encoder object do not reach a request.
    public var encoder: any ContentEncoder {
        get { own }
        set { own = newValue.snapshot() }
    }
    private var own: any ContentEncoder
    /// Where parameters go, how a query is written, and the defaults of all requests.
    public var http: HTTPRequestSerializer

    /// - Parameters:
    ///   - encoder: makes the content. Its snapshot is kept: later changes to an encoder object have no effect.
    ///   - http: serves the methods whose parameters go into the query, and has the default fields.
    public init(encoder: some ContentEncoder, http: HTTPRequestSerializer = HTTPRequestSerializer()) {
        own = encoder.snapshot()
        self.http = http
    }

    public func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
        try http.serialize(parameters, into: request, contentType: own.contentType) {
            parameters throws(ParameterFailure) in
            try encoded(parameters)
        }
    }

    public func serialize(encoding value: some Encodable, into request: URLRequest) throws(UncurlError) -> URLRequest {
        guard !http.isInQuery(of: request) else { return try http.serialize(encoding: value, into: request) }
        return try http.serialize(.empty, into: request, contentType: own.contentType) { _ throws(ParameterFailure) in
            try encoded(value)
        }
    }

    private func encoded(_ value: some Encodable) throws(ParameterFailure) -> Data {
        try ParameterFailure.wrapping { try own.encode(value) }
    }
}
