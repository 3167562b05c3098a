public import URLLoading

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
