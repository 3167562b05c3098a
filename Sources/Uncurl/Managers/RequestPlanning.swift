public import URLLoading
internal import UncurlHTTP1
internal import UncurlSemantics
internal import UncurlText

/// Turns a request into the plan of its task.
extension URLSessionManager {
    /// The request as it is sent, before interceptors change it.
    public func urlRequest(for request: HTTPRequest) throws(UncurlError) -> URLRequest {
        let plan = try taskPlan(for: request, core.settings)
        if let made = plan.request { return made }
        return URLRequest(url: try url(for: request.path))
    }

    /// The request as a command line for curl, with the session's fields and cookies, and with the name and password of
    /// ``RequestOptions/credential``. For a ``RequestBody/file(_:contentType:)``, the command names the file.
    public func cURL(
        for request: HTTPRequest,
        credentials: CURLCommand.Credentials = .redacted
    ) throws(UncurlError) -> CURLCommand {
        let file: URL? = if case .file(let file, _) = request.body { file } else { nil }
        let made = try urlRequest(for: request)
        let isStreamed = if case .stream = request.body { true } else { false }
        return CURLCommand(
            made,
            session: session,
            credentials: credentials,
            file: file,
            login: request.options.credential,
            isStreamed: isStreamed
        )
    }

    /// The URL of a reference, resolved against the base URL of an ``HTTPSessionManager`` that has one.
    public func url(for path: String) throws(UncurlError) -> URL {
        guard let base else { return try BaseURL.absolute(path) }
        let url = try base.resolve(path)
        if core.staysAtBaseOrigin, !base.isOrigin(of: url) {
            throw .invalidURL(path, reason: "it leads to another origin than the manager's base URL")
        }
        return url
    }

    /// Plans the rest of a download. Resume data that Uncurl did not write makes no request, and its task fails.
    func taskPlan(resuming data: Data, _ given: HTTPRequest) -> TaskPlan {
        var plan = TaskPlan(kind: .resumedDownload(data), options: given.own)
        if var request = URLRequest(resuming: data) {
            given.applyOptions(to: &request)
            plan.request = request
        }
        return plan
    }

    func taskPlan(for given: HTTPRequest, _ settings: Shared<ManagerCore.Settings>) throws(UncurlError) -> TaskPlan {
        var request = given
        if request.sendsContentWithGET || request.options.connectTo != nil {
            // The answer depends on the content or on this one server, so a cache must not answer with what is stored
            // under the URL. The session does not store it there.
            request.options.cachePolicy = .reloadIgnoringLocalCacheData
        }
        var made = try begun(request)
        // Defaults are not added to a complete request.
        let defaults = request.whole == nil ? settings.values.requestDefaults : nil
        defaults?.addFields(to: &made)
        var serializer = request.serializer ?? settings.values.requestSerializer
        if request.whole != nil, request.serializer == nil { serializer = serializer.withoutDefaults }
        var plan = TaskPlan(kind: .data, options: request.own)
        try write(request, by: serializer, into: &made, &plan)
        if let bad = request.headers.first(where: { !$0.isValid }) { throw .header(name: bad.name) }
        if !request.headers.isEmpty { made.replaceFields(by: request.headers.map { ($0.name, $0.value) }) }
        // Set after the serializer, whose own defaults apply only where the request sets nothing.
        defaults?.setProperties(of: &made)
        request.applyOptions(to: &made)
        if let compression = request.options.compression { made = try made.compressed(compression) }
        if case .data = request.body, let data = made.httpBody { plan.kind = .upload(.data(data)) }
        try made.checkFields()
        plan.request = made
        return plan
    }

    /// Writes the parameters and the content, and chooses the kind of the task.
    private func write(
        _ request: HTTPRequest,
        by serializer: any RequestSerializer,
        into made: inout URLRequest,
        _ plan: inout TaskPlan
    ) throws(UncurlError) {
        switch request.body {
        // The content of a complete request is sent as it is.
        case .parameters where request.whole != nil && request.parameters == nil: break
        case .parameters: made = try serializer.serialize(request.parameters, into: made)
        case .encoded(let value, nil) where request.parameters == nil:
            made = try serializer.serialize(encoding: value, into: made)
        case .encoded(let value, let writer):
            made = try serializer.serialize(query: request.parameters, into: made, nil)
            made.setValue(nil, forHTTPHeaderField: "Content-Type")
            made = try (writer ?? serializer).serialize(encoding: value, into: made)
        case .data(let data, let type):
            made = try serializer.serialize(query: request.parameters, into: made, type)
            made.httpBody = data
        case .file(let file, let type):
            made = try serializer.serialize(
                query: request.parameters,
                into: made,
                type,
                usual: URLResponse.mimeType(ofPath: file.path)
            )
            plan.kind = .upload(.file(file))
        case .stream(let length, let type, let make):
            made = try serializer.serialize(query: request.parameters, into: made, type)
            guard length ?? 0 >= 0 else { throw .header(name: "Content-Length") }
            if let length { made.setValue(String(length), forHTTPHeaderField: "Content-Length") }
            plan.kind = .upload(.stream)
            plan.newBodyStream = make
        case .multipart(let form):
            made = try serializer.serialize(form, leadBy: request.parameters, into: made)
            plan.kind = .upload(.stream)
        }
    }

    private func begun(_ request: HTTPRequest) throws(UncurlError) -> URLRequest {
        guard var made = request.whole else {
            var made = URLRequest(url: try url(for: request.path))
            made.httpMethod = request.method.rawValue
            return made
        }
        if made.url?.absoluteString != request.path || made.url?.scheme == nil { made.url = try url(for: request.path) }
        if made.httpMethod != request.method.rawValue { made.httpMethod = request.method.rawValue }
        return made
    }
}

extension URLRequest {
    /// Throws for a field that cannot be sent. A `URLRequest` would drop it silently.
    func checkFields() throws(UncurlError) {
        if let refusedField { throw .header(name: refusedField) }
    }
}

extension HTTPRequest {
    fileprivate func applyOptions(to request: inout URLRequest) {
        guard let options = own?.values else { return }
        if let timeout = options.timeout { request.timeoutInterval = timeout.inSeconds }
        if let cachePolicy = options.cachePolicy { request.cachePolicy = cachePolicy }
        if let length = options.maximumDataLength { request.maximumDataLength = length }
        if options.sendsContentWithGET { request.sendsContentWithGET = true }
        request.replaceTerms(by: options.terms)
    }

    fileprivate var sendsContentWithGET: Bool { options.sendsContentWithGET && method == .get }
}

struct BaseURL: Sendable {
    let url: URL
    /// The text of the base up to the last slash of its path. Nil where a plain reference cannot simply be appended to
    /// it.
    private let prefix: String?
    private let origin: Origin?

    /// Adds a slash to a path without one at its end, so that `…/v1` and `users` make `…/v1/users`.
    init(_ given: URL) {
        var url = given
        if var parts = URLComponents(url: given.absoluteURL, resolvingAgainstBaseURL: true),
            !parts.percentEncodedPath.isEmpty, !parts.percentEncodedPath.hasSuffix("/")
        {
            parts.percentEncodedPath += "/"
            url = parts.url ?? given
        }
        self.url = url.absoluteURL
        let text = self.url.absoluteString
        origin = URIReference(text).origin
        prefix = text.hasSuffix("/") && !text.contains("?") && !text.contains("#") ? text : nil
    }

    /// Resolves a reference by RFC 3986 §5.2: a whole URL replaces the base, and a path that begins with a slash
    /// replaces the base's path. Characters that a URL must escape are escaped, as `URL(string:)` does; escapes in the
    /// reference are kept.
    ///
    /// A reference that begins with two slashes would name a host (§4.2). It is refused: such a text is mostly a path
    /// with an empty component, and the manager's fields would go to that host.
    func resolve(_ reference: String) throws(UncurlError) -> URL {
        if reference.isEmpty { return url }
        if let prefix, reference.isPlainReference, let url = URL(string: prefix + reference) { return url }
        if reference.utf8.starts(with: "//".utf8) {
            throw .invalidURL(reference, reason: "it names a host without a scheme, or its first component is empty")
        }
        return try Self.checked(reference, relativeTo: url)
    }

    /// Whether a URL has the base's origin: its scheme, host and port (RFC 9110 §4.3.1). A WebSocket's is not that of
    /// its handshake.
    func isOrigin(of other: URL) -> Bool {
        guard let origin, other.scheme?.lowercased() == url.scheme?.lowercased() else { return false }
        return URIReference(other.absoluteString).origin == origin
    }

    static func absolute(_ reference: String) throws(UncurlError) -> URL { try checked(reference, relativeTo: nil) }

    /// Reads a reference. In a text with octets that no URL has, `URL(string:)` would escape the existing escapes
    /// again.
    private static func url(_ reference: String, relativeTo base: URL?) -> URL? {
        guard let url = URL(string: reference, encodingInvalidCharacters: false) else {
            return URL(string: reference.escapingInvalid, relativeTo: base)
        }
        return base == nil || url.scheme != nil ? url : URL(string: reference, relativeTo: base)
    }

    private static func checked(_ reference: String, relativeTo base: URL?) throws(UncurlError) -> URL {
        if reference.namesNoComponent {
            throw .invalidURL(
                reference.replacing(String.noComponent, with: ""),
                reason: "a component that was inserted into its path is empty, “.” or “..”"
            )
        }
        guard let url = url(reference, relativeTo: base)?.absoluteURL else {
            throw .invalidURL(reference, reason: "it is not a URL")
        }
        guard let scheme = url.scheme else {
            throw .invalidURL(reference, reason: "it is relative, and the manager has no base URL")
        }
        let isRemote = ["http", "https"].contains(scheme.lowercased())
        if isRemote, url.host(percentEncoded: true)?.isEmpty ?? true {
            throw .invalidURL(reference, reason: "it names no host")
        }
        return url
    }
}

extension String {
    /// The text with octets that no URL has escaped as %XX, and each `%` that begins no escape (RFC 3986 §2). The host
    /// stays as it is, because `URL(string:)` writes it in A-labels (RFC 5890 §2.3.2.1).
    fileprivate var escapingInvalid: String {
        let octets = Array(utf8)
        let authority = URIReference(octets).authority ?? []
        let host =
            (authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex)..<authority.endIndex
        let escaped = percentMended(octets[...]) { index in
            octets[index].isPathOrQueryOctet || octets[index] == UInt8(ascii: "#") || host.contains(index)
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Whether the reference can be appended to the base as it is: it has only segments of letters, digits, `-`, `_`
    /// and `~`, and a query of the same. Dots are excluded because of `..`.
    fileprivate var isPlainReference: Bool {
        guard let first = utf8.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "?") else { return false }
        return utf8.allSatisfy { octet in
            octet != UInt8(ascii: ".") && isUnreservedOctet(octet) || "/?=&".utf8.contains(octet)
        }
    }
}
