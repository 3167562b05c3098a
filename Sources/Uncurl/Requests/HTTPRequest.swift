public import URLLoading
internal import UncurlSemantics
internal import UncurlText

/// A request of any kind, as a value. A manager completes it with its base URL and its serializer.
public struct HTTPRequest: Sendable {
    /// The `URLRequest` that the request was made of; nil for any other request.
    let whole: URLRequest?
    /// The method. By default GET.
    public var method: HTTPMethod
    /// A URL, or a reference that is resolved against the manager's base URL (RFC 3986 §5).
    public var path: String
    /// The values that the serializer puts into the query or the content. Beside a ``body``, they go into the query.
    public var parameters: Parameters?
    /// Header fields. They are set last and replace fields of the serializer.
    public var headers: HTTPHeaders
    /// The content.
    public var body: RequestBody
    /// Writes the parameters; nil for the manager's serializer.
    public var serializer: (any RequestSerializer)?
    /// The settings of this request that differ from its manager's.
    public var options: RequestOptions {
        _read { yield((own ?? Self.usual).values) }
        _modify {
            var options = (own ?? Self.usual).values
            defer { own = options.shared }
            yield &options
        }
    }
    /// The options; nil where there are none.
    private(set) var own: Shared<RequestOptions>?
    private static let usual = Shared(RequestOptions())

    /// A request. Each argument is described at the property of its name.
    public init(
        _ method: HTTPMethod,
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody = .parameters,
        serializer: (any RequestSerializer)? = nil,
        options: RequestOptions = RequestOptions()
    ) {
        whole = nil
        self.method = method
        self.path = path
        self.parameters = parameters
        self.headers = headers
        self.body = body
        self.serializer = serializer
        own = options.shared
    }

    /// A complete request: serializers add nothing to it. Interceptors, retries and monitors apply to it as to any
    /// request. Properties that are set later apply too: a field in ``headers`` replaces the request's own field, and a
    /// ``body`` its content.
    public init(_ request: URLRequest, options: RequestOptions = RequestOptions()) {
        whole = request
        method = HTTPMethod(rawValue: request.httpMethod ?? "GET")
        path = request.url?.absoluteString ?? ""
        parameters = nil
        headers = HTTPHeaders()
        body = .parameters
        serializer = nil
        own = options.shared
    }

    var isReplayable: Bool {
        if case .parameters = body, let whole { whole.isReplayable } else { body.isReplayable }
    }

    /// The error of a request whose content would have to be sent again and cannot be.
    var notReplayable: UncurlError {
        let isForm = if case .multipart = body { true } else { whole?.content != nil }
        return isForm ? .multipart(.notReplayable) : .bodyNotReplayable
    }

    /// A GET request. A string literal makes one too.
    public init(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions()
    ) {
        self.init(.get, path, parameters: parameters, headers: headers, options: options)
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// The request in one line, without the query of its path and without secrets.
    public var description: String {
        let hasBody = if case .parameters = body { false } else { true }
        return described(
            Self.self,
            [
                "": "\(method) \(URL(string: path)?.redacted ?? "")", "parameters": parameters, "headers": headers,
                "body": hasBody ? body : nil, "serializer": serializer.map { type(of: $0) }, "options": own?.values,
            ]
        )
    }
}

extension HTTPRequest: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self.init(value) }
}

/// The content of a request.
@frozen public enum RequestBody: Sendable {
    /// The request's parameters, at the place that its serializer chooses.
    case parameters
    /// A value of the program's own. It is boxed, so that requests without one stay small.
    ///
    /// - Parameter serializer: writes the value into the query or the content; nil for the request's serializer.
    indirect case encoded(any Encodable & Sendable, by: (any RequestSerializer)? = nil)
    /// Bytes in memory. The default content type is `application/octet-stream`.
    case data(Data, contentType: String? = nil)
    /// A local file, read while it is sent.
    case file(URL, contentType: String? = nil)
    /// A form of several parts, sent while it is read. Parameters become its first fields.
    case multipart(MultipartForm)
    /// A stream that the closure makes anew for each attempt, redirect and challenge.
    ///
    /// - Parameter length: in bytes, sent as Content-Length and enforced; nil sends chunks.
    case stream(length: Int64? = nil, contentType: String? = nil, @Sendable () throws -> InputStream)

    var isReplayable: Bool {
        if case .multipart(let form) = self { form.isReplayable } else { true }
    }
}

extension RequestBody: CustomStringConvertible {
    /// What the body is made of, without its bytes.
    public var description: String {
        switch self {
        case .parameters: "parameters"
        case .encoded(let value, _): "\(type(of: value))"
        case .data(let data, _): "\(data)"
        case .file(let url, _): url.path
        case .multipart(let form): "\(form)"
        case .stream(let length, _, _): described(InputStream.self, ["bytes": length])
        }
    }
}

extension RequestBody {
    /// A value as JSON (`application/json`), whatever the method and the request's serializer.
    ///
    /// - Parameters:
    ///   - value: encoded when the request is built.
    ///   - encoder: writes the value. Its snapshot is kept: later changes to the encoder object have no effect.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()) -> RequestBody {
        .encoded(value, by: EncodableRequestSerializer(encoder: encoder, http: .content))
    }

    /// A JSON text that is written as a literal, also with values of several types and at any depth: `.json(["a": 1,
    /// "b": ["x", nil]])`.
    public static func json(_ value: JSONValue, encoder: JSONEncoder = JSONEncoder()) -> RequestBody {
        .encoded(value, by: EncodableRequestSerializer(encoder: encoder, http: .content))
    }

    /// An object with members of several types: `.json(["name": name, "age": age])`. `nil` is written as `null`.
    @_disfavoredOverload
    public static func json(
        _ members: [String: (any Encodable & Sendable)?],
        encoder: JSONEncoder = JSONEncoder()
    ) -> RequestBody {
        json(members.mapValues { AnyMember(value: $0) } as [String: AnyMember], encoder: encoder)
    }

    /// The names and values of a value as `application/x-www-form-urlencoded`, whatever the method and the request's
    /// serializer.
    public static func form(_ value: some Encodable & Sendable) -> RequestBody {
        .encoded(value, by: HTTPRequestSerializer.content)
    }
}

/// A value of any type. It is encoded through a container, because encoders know dates, bytes and decimals there.
private struct AnyMember: Encodable, Sendable {
    let value: (any Encodable & Sendable)?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}

extension HTTPRequestSerializer {
    /// A serializer that sets only the content, and keeps what the request's own serializer has set.
    fileprivate static var content: HTTPRequestSerializer { HTTPRequestSerializer(defaults: .none, placement: .body) }
}

extension URLProtectionSpace {
    /// Whether this is a space of the origin of the URL: scheme, host and port (RFC 9110 §4.3.1).
    func isOrigin(of url: URL?) -> Bool {
        guard let url, let own = self.protocol, let origin = URIReference(url.absoluteString).origin else {
            return false
        }
        let constants = [NSURLProtectionSpaceHTTP: "http", NSURLProtectionSpaceHTTPS: "https"]
        return (constants[own] ?? own).lowercased() == url.scheme?.lowercased()
            && origin.host == (try? URLHost(host))?.bare && Int(origin.port) == port
    }

    /// Whether the space asks for a credential of this kind: a client certificate, or a name and a password.
    func takes(_ credential: URLCredential) -> Bool {
        (authenticationMethod == NSURLAuthenticationMethodClientCertificate) == (credential.identity != nil)
    }
}

/// Puts any text into a path or a query.
///
/// ```swift
/// let user = try await manager.get("users/\(component: name)?near=\(query: place)", as: User.self)
/// ```
extension DefaultStringInterpolation {
    /// Inserts a text as one component of a path. Every special character is escaped: a slash is part of the name.
    ///
    /// An empty text, `.` and `..` name no component: with them a path would name another folder, or begin with a host
    /// (RFC 3986 §4.2, §5.2.4). A manager refuses such a reference with ``UncurlError/invalidURL(_:reason:)``.
    public mutating func appendInterpolation(component text: some CustomStringConvertible) {
        let text = text.description
        if ["", ".", ".."].contains(text) { appendLiteral(String.noComponent) }
        appendLiteral(percentEncodedText(text))
    }

    /// Inserts a text as a name or a value of a query. Every special character is escaped.
    public mutating func appendInterpolation(query text: some CustomStringConvertible) {
        appendLiteral(percentEncodedText(text.description))
    }
}

extension String {
    /// Stands before an inserted text that names no component, because an interpolation cannot throw. It is a
    /// noncharacter, which no reference contains otherwise: an inserted one is escaped.
    static let noComponent = String(decoding: [0xFDD0 as UInt16], as: UTF16.self)

    /// Whether the text has ``noComponent``. Its first octet is looked for: the search alone would take longer than all
    /// the rest of a request's making.
    var namesNoComponent: Bool { utf8.contains(0xEF) && contains(String.noComponent) }
}
