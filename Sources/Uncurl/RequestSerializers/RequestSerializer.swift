public import URLLoading

/// Puts parameters into a request. A serializer is a value: each request is built from a copy.
public protocol RequestSerializer: Sendable {
    /// The rules for parameters in a query and for parameters that are fields of a multipart form. A query has the
    /// parameters of methods without content, and those beside other content. By default
    /// ``HTTPRequestSerializer/init(defaults:query:placement:queryMethods:stringEncoding:)``.
    var http: HTTPRequestSerializer { get }

    /// Puts parameters into a request. May be called on any thread.
    ///
    /// - Parameters:
    ///   - parameters: nil means that the request has none; that differs from empty parameters.
    ///   - request: the request with its URL, its method and its own fields.
    /// - Throws: ``UncurlError/parameters(_:)`` for parameters that cannot be written.
    func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest

    /// Puts a value that can be encoded into a request.
    func serialize(encoding value: some Encodable, into request: URLRequest) throws(UncurlError) -> URLRequest
}

extension RequestSerializer {
    public var http: HTTPRequestSerializer { HTTPRequestSerializer() }

    /// Makes ``Parameters`` of the value.
    public func serialize(encoding value: some Encodable, into request: URLRequest) throws(UncurlError) -> URLRequest {
        let parameters: Parameters
        do throws(ParameterFailure) {
            parameters = try Parameters(encoding: value)
        } catch {
            throw .parameters(error.about(request))
        }
        return try serialize(parameters, into: request)
    }
}

extension RequestSerializer where Self == HTTPRequestSerializer {
    /// Parameters as a query or a form: ``HTTPRequestSerializer`` with its defaults.
    public static var form: HTTPRequestSerializer { HTTPRequestSerializer() }
}

extension RequestSerializer where Self == JSONRequestSerializer {
    /// JSON content: ``JSONRequestSerializer`` with its defaults.
    public static var json: JSONRequestSerializer { JSONRequestSerializer() }
}

extension RequestSerializer where Self == PropertyListRequestSerializer {
    /// A property list in XML: ``PropertyListRequestSerializer`` with its defaults.
    public static var propertyList: PropertyListRequestSerializer { PropertyListRequestSerializer() }
}

extension RequestSerializer where Self == EncodableRequestSerializer {
    /// Content that an encoder makes of parameters or of a value.
    public static func encoding(with encoder: some ContentEncoder) -> EncodableRequestSerializer {
        EncodableRequestSerializer(encoder: encoder)
    }
}
