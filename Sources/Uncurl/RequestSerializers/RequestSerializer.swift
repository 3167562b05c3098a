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
        guard contentType?.isFieldValue ?? true else { throw .header(name: "Content-Type") }
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

/// Writes parameters as a query, or as a form in the content (`application/x-www-form-urlencoded`).
///
/// Without parameters the URL stays as it is. A form of empty parameters is empty content, which a server can tell from
/// no content.
public struct HTTPRequestSerializer: RequestSerializer {
    /// How parameters become text.
    @frozen public enum Query: Sendable {
        /// By the rules of an encoding.
        case encoded(QueryEncoding)
        /// The closure returns the text of a query or of a form. What it throws ends the request before anything is
        /// sent.
        case custom(@Sendable (URLRequest, Parameters) throws -> String)
    }

    /// The fields and properties that every request gets.
    public var defaults: RequestDefaults
    /// How parameters become text.
    public var query: Query
    /// Where parameters go.
    public var placement: ParameterPlacement
    /// The methods whose parameters go into the query, in upper case. A request's method is compared in upper case.
    public var queryMethods: Set<HTTPMethod>
    /// The text encoding of the content. Percent-encoding always uses UTF-8 octets.
    public var stringEncoding: String.Encoding

    /// The serializer itself.
    public var http: HTTPRequestSerializer { self }

    /// A serializer with AFNetworking's defaults. Each argument is described at the property of its name.
    public init(
        defaults: RequestDefaults = RequestDefaults(),
        query: Query = .encoded(QueryEncoding()),
        placement: ParameterPlacement = .byMethod,
        queryMethods: Set<HTTPMethod> = [.get, .head, .delete],
        stringEncoding: String.Encoding = .utf8
    ) {
        self.defaults = defaults
        self.query = query
        self.placement = placement
        self.queryMethods = queryMethods
        self.stringEncoding = stringEncoding
    }

    public func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest {
        do throws(ParameterFailure) {
            let request = defaults.applied(to: request)
            if isInQuery(of: request) {
                return try parameters.map { given throws(ParameterFailure) in
                    try withQuery(given, request)
                } ?? request
            }
            // There are no parameters, and the request has a body already.
            guard parameters != nil || !Self.hasBody(request) else { return request }
            let text = try parameters.map { given throws(ParameterFailure) in try self.text(given, for: request) } ?? ""
            guard let body = text.data(using: stringEncoding) else {
                throw ParameterFailure(.notInEncoding(stringEncoding))
            }
            return Self.request(request, body: body, contentType: "application/x-www-form-urlencoded")
        } catch {
            throw .parameters(error.about(request))
        }
    }

    /// Whether the parameters of this request go into its query.
    func isInQuery(of request: URLRequest) -> Bool {
        switch placement {
        case .query: true
        case .body: false
        case .byMethod: queryMethods.contains(HTTPMethod(rawValue: (request.httpMethod ?? "GET").uppercased()))
        }
    }

    private func text(_ parameters: Parameters, for request: URLRequest) throws(ParameterFailure) -> String {
        switch query {
        case .encoded(let encoding): try encoding.string(parameters)
        case .custom(let write): try ParameterFailure.wrapping { try write(request, parameters) }
        }
    }

    private func withQuery(_ parameters: Parameters, _ request: URLRequest) throws(ParameterFailure) -> URLRequest {
        let text = try text(parameters, for: request)
        guard let url = request.url?.appending(query: text) else { throw ParameterFailure(.noURL) }
        var request = request
        request.url = url
        return request
    }

    private static func hasBody(_ request: URLRequest) -> Bool {
        request.httpBody != nil || request.httpBodyStream != nil
    }

    /// Sets the content. The content type is set only where the request has none.
    static func request(_ request: URLRequest, body: Data, contentType: String) -> URLRequest {
        var request = request
        request.httpBody = body
        if request.value(forHTTPHeaderField: "Content-Type") == nil {
            request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        }
        return request
    }

    /// The common part of the document formats. Parameters of query methods become a query; without parameters there is
    /// no content; otherwise `document` makes the content.
    func serialize(
        _ parameters: Parameters?,
        into request: URLRequest,
        contentType: String,
        document: (Parameters) throws(ParameterFailure) -> Data
    ) throws(UncurlError) -> URLRequest {
        guard !isInQuery(of: request) else { return try serialize(parameters, into: request) }
        do throws(ParameterFailure) {
            let request = defaults.applied(to: request)
            guard let parameters else { return request }
            return Self.request(request, body: try document(parameters), contentType: contentType)
        } catch {
            throw .parameters(error.about(request))
        }
    }
}

extension URL {
    /// The URL with an addition to its query: after `&` where there is a query, even an empty one, and always before
    /// the fragment.
    ///
    /// - Parameter query: an escaped query. A character in it that would end a query is escaped here.
    func appending(query: String) -> URL? {
        guard !query.isEmpty else { return self }
        let text = absoluteString
        let end = text.firstIndex(of: "#") ?? text.endIndex
        let separator = text[..<end].contains("?") ? "&" : "?"
        // Compared octet by octet: `#` with a combining accent is another character, but its octet still ends a query.
        let octets = query.utf8.flatMap { $0 == UInt8(ascii: "#") ? Array("%23".utf8) : [$0] }
        let inner = String(decoding: octets, as: UTF8.self)
        return URL(string: text[..<end] + separator + inner + text[end...])
    }
}

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
