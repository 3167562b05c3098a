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

/// Handles requests with content of their own: their parameters go into the query, whatever the method.
extension RequestSerializer {
    /// - Parameters:
    ///   - contentType: what the program says of the content. It replaces the request's own field Content-Type.
    ///   - usual: the Content-Type of a request that has none.
    func serialize(
        query parameters: Parameters?,
        into request: URLRequest,
        _ contentType: String?,
        usual: String = "application/octet-stream"
    ) throws(UncurlError) -> URLRequest {
        guard FieldSyntax.isValue(contentType ?? "") else { throw .header(name: "Content-Type") }
        var made = try serialize(nil, into: request)
        made.httpBody = nil
        let type = contentType ?? request.value(forHTTPHeaderField: "Content-Type") ?? usual
        made.setValue(type, forHTTPHeaderField: "Content-Type")
        guard let parameters else { return made }
        var writer = http
        (writer.defaults, writer.placement) = (.none, .query)
        return try writer.serialize(parameters, into: made)
    }
}

extension RequestSerializer {
    /// Writes a form. The parameters become its first fields.
    func serialize(
        _ form: MultipartForm,
        leadBy parameters: Parameters?,
        into request: URLRequest
    ) throws(UncurlError) -> URLRequest {
        var made = try serialize(nil, into: request)
        made.httpBody = nil
        var fields: [(name: String, value: Data)] = []
        let rules = if case .encoded(let encoding) = http.query { encoding } else { QueryEncoding() }
        do throws(ParameterFailure) {
            fields = try parameters?.formParts(rules, stringEncoding: http.stringEncoding) ?? []
        } catch {
            throw .parameters(error)
        }
        do throws(MultipartFailure) {
            guard !fields.isEmpty else { return try form.request(from: made) }
            var whole = try MultipartForm(boundary: form.boundary)
            try whole.append(fields: fields)
            try whole.append(partsOf: form)
            return try whole.request(from: made)
        } catch {
            throw .multipart(error)
        }
    }
}

extension URLRequest {
    func compressed(_ compression: RequestCompression) throws(UncurlError) -> URLRequest {
        do throws(CompressionFailure) { return try compression.compress(self) } catch { throw .compression(error) }
    }
}

extension RequestSerializer {
    /// A copy without the fields and properties that this serializer gives every request, for a request that is
    /// complete except for its content. A serializer of the program's own is returned as it is.
    var withoutDefaults: any RequestSerializer {
        switch self {
        case var serializer as HTTPRequestSerializer:
            serializer.defaults = .none
            return serializer
        case var serializer as JSONRequestSerializer:
            serializer.http.defaults = .none
            return serializer
        case var serializer as PropertyListRequestSerializer:
            serializer.http.defaults = .none
            return serializer
        case var serializer as EncodableRequestSerializer:
            serializer.http.defaults = .none
            return serializer
        default: return self
        }
    }
}
