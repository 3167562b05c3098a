public import URLLoading

/// Makes content of anything that can be encoded.
public protocol ContentEncoder: Sendable {
    /// What goes into Content-Type.
    var contentType: String { get }

    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: ContentEncoder {
    public var contentType: String { "application/json" }
}

extension PropertyListEncoder: ContentEncoder {
    public var contentType: String { "application/x-plist" }
}

/// A body made by an encoder, whatever the method; the parameters of methods without one, as a query.
public struct EncodableRequestSerializer: RequestSerializer {
    public var encoder: any ContentEncoder
    /// What requests without a body get, and the defaults of all.
    public var http: HTTPRequestSerializer

    public init(encoder: any ContentEncoder, http: HTTPRequestSerializer = HTTPRequestSerializer()) {
        self.encoder = encoder
        self.http = http
    }

    public func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
        request
    }

    public func serialize(encoding value: some Encodable, into request: URLRequest) throws(UncurlError) -> URLRequest {
        request
    }
}
