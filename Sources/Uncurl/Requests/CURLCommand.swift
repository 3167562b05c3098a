public import URLLoading
internal import UncurlEngine
internal import UncurlSemantics
internal import UncurlText

/// A request as a command line for curl. In a shell it sends the same request. A stream, a multipart form, a client
/// certificate and, unless they are asked for, credentials are left out; a comment at the end of the command says so.
public struct CURLCommand: Hashable, Sendable, CustomStringConvertible {
    /// Whether the command contains credentials.
    @frozen public enum Credentials: Hashable, Sendable {
        /// Users, passwords and the values of Authorization, Proxy-Authorization, Cookie and the session's
        /// `secretHeaderFields` are left out.
        case redacted
        /// The values are shown as they are sent.
        case shown
    }

    public let description: String

    /// The command for a request.
    ///
    /// - Parameters:
    ///   - request: the request as it is sent.
    ///   - session: adds the header fields and cookies of its configuration.
    ///   - credentials: whether the command contains credentials.
    ///   - file: a file whose octets replace the request's own content.
    public init(
        _ request: URLRequest,
        session: URLSession? = nil,
        credentials: Credentials = .redacted,
        file: URL? = nil
    ) {
        self.init(request, session: session, credentials: credentials, file: file, login: nil, isStreamed: false)
    }

    /// - Parameters:
    ///   - login: answers the server's challenge.
    ///   - isStreamed: whether a closure makes the content, which the request itself then does not hold.
    init(
        _ request: URLRequest,
        session: URLSession?,
        credentials: Credentials,
        file: URL?,
        login: URLCredential?,
        isStreamed: Bool
    ) {
        let configuration = session?.configuration
        let isLeftOut = file == nil && (isStreamed || request.httpBodyStream != nil || request.content != nil)
        let hasContent = file != nil || isLeftOut || request.ownContent != nil
        let stored = request.url.flatMap { configuration?.urlCredentialStorage?.defaultCredentials(for: $0) } ?? []
        let login = login ?? stored.first { $0.user != nil }
        let fields = Self.fields(of: request, configuration, hasContent: hasContent)
        let content = Self.content(of: request, file, isNamed: fields.contains(where: Self.isField("Content-Type")))
        var words = ["curl", "--globoff"] + Self.method(of: request, file)
        var redaction = Redaction(credentials, configuration)
        for field in fields { words += ["--header", Self.quoted(field, &redaction)] }
        words += content.options
        if let user = login?.user {
            let shown = redaction.shown("\(user):\(login?.password ?? "")")
            words += ["--anyauth", "--user", Self.quoted(shown)]
        }
        words += Self.route(of: request, &redaction) + Self.url(of: request, &redaction)
        var missing: [String] = []
        if redaction.hasLeftOut { missing.append("the credentials") }
        if isLeftOut { missing.append("the content: a stream or a form of several parts") }
        if login?.identity != nil || stored.contains(where: { $0.identity != nil }) {
            missing.append("the client certificate")
        }
        let mark = missing.isEmpty ? "" : " # without " + missing.joined(separator: ", and without ")
        description = content.source + words.joined(separator: " ") + mark
    }

    private static func method(of request: URLRequest, _ file: URL?) -> [String] {
        let method = request.httpMethod ?? "GET"
        return switch method {
        // Without `--request`, curl sends a GET, or a POST if there is content.
        case "GET" where request.ownContent == nil && file == nil: []
        case "HEAD" where request.ownContent == nil && file == nil: ["--head"]
        default: ["--request", quoted(method)]
        }
    }

    /// Leaves credentials out, unless they are asked for.
    private struct Redaction {
        let isOff: Bool
        private let isSecret: @Sendable (String) -> Bool
        private(set) var hasLeftOut = false

        init(_ credentials: Credentials, _ configuration: URLSessionConfiguration?) {
            isOff = credentials == .shown
            let own = configuration?.secretHeaderFields ?? URLSessionConfiguration.usualSecretHeaderFields
            isSecret = URLSessionConfiguration.secrecy(
                by: own.union(["Authorization", "Proxy-Authorization", "Cookie"])
            )
        }

        mutating func shown(_ value: String, of field: String) -> String { isSecret(field) ? shown(value) : value }

        mutating func shown(_ credential: String) -> String {
            if isOff { return credential }
            hasLeftOut = true
            return "…"
        }
    }

    private typealias Field = (name: String, value: String)

    private static func isField(_ name: String) -> (Field) -> Bool {
        { $0.name.caseInsensitiveCompare(name) == .orderedSame }
    }

    private static func quoted(_ field: Field, _ redaction: inout Redaction) -> String {
        let shown = redaction.shown(field.value, of: field.name)
        // curl sends a field without a value for `Name;`; `Name:` would remove the field.
        return quoted(shown.isEmpty ? "\(field.name);" : "\(field.name): \(shown)")
    }

    /// The fields of the request, of the session and of its cookies, sorted by name.
    private static func fields(
        of request: URLRequest,
        _ configuration: URLSessionConfiguration?,
        hasContent: Bool
    ) -> [Field] {
        var fields = (request.allHTTPHeaderFields ?? [:]).map { ($0.key, $0.value) as Field }
        for (name, value) in configuration?.httpAdditionalHeaders ?? [:] {
            let field = (name: "\(name)", value: "\(value)")
            if !fields.contains(where: isField(field.name)) { fields.append(field) }
        }
        if let configuration, configuration.httpShouldSetCookies, request.httpShouldHandleCookies,
            !fields.contains(where: isField("Cookie")),
            let cookies = configuration.httpCookieStorage?.cookies(sentWith: request), !cookies.isEmpty,
            let line = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
        {
            fields.append(("Cookie", line))
        }
        // A session sends the length of no content with these methods (RFC 9110 §8.6), but curl does not.
        if !hasContent, ["POST", "PUT", "PATCH"].contains(request.httpMethod ?? "GET") {
            fields.append(("Content-Length", "0"))
        }
        return fields.sorted { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// The options of the request's content, and the command whose output curl sends; empty if there is none.
    ///
    /// - Parameter isNamed: whether a field names the content's type.
    private static func content(
        of request: URLRequest,
        _ file: URL?,
        isNamed: Bool
    ) -> (options: [String], source: String) {
        // Without this option curl adds a content type for any method; a session adds one only for a POST.
        let type = (request.httpMethod ?? "GET") != "POST" && !isNamed ? ["--header", quoted("Content-Type:")] : []
        if let file { return (type + ["--data-binary", quoted("@" + file.path)], "") }
        guard let body = request.ownContent else { return ([], "") }
        if let text = String(validating: body, as: UTF8.self), !text.utf8.contains(0) {
            return (type + ["--data-raw", quoted(text)], "")
        }
        // Binary content cannot be part of a command line.
        return (type + ["--data-binary", "@-"], "printf %s \(quoted(body.base64EncodedString())) | base64 -d | ")
    }

    /// The options of the request's connection: its proxy, its target, its limits.
    private static func route(of request: URLRequest, _ redaction: inout Redaction) -> [String] {
        var words: [String] = []
        let terms = request.terms
        if case .host(let host, let port)? = terms.endpoint {
            words += ["--connect-to", quoted("::\(host.contains(":") ? "[\(host)]" : host):\(port)")]
        }
        if let limit = terms.connectTime { words += ["--connect-timeout", "\(limit)"] }
        guard let proxies = terms.proxies else { return words }
        guard let proxy = proxies.http ?? proxies.https else { return words + ["--noproxy", quoted("*")] }
        words += ["--proxy", quoted("\(proxy)")]
        guard let login = proxy.credentials else { return words }
        return words + ["--proxy-user", quoted(redaction.shown("\(login.user):\(login.password)"))]
    }

    private static func url(of request: URLRequest, _ redaction: inout Redaction) -> [String] {
        guard let url = request.url else { return [quoted("")] }
        let path = hasDotSegments(url) ? ["--path-as-is"] : []
        guard !redaction.isOff, url.user != nil, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return path + [quoted(url.absoluteString)] }
        (parts.user, parts.password) = (nil, nil)
        return path + ["--user", quoted(redaction.shown("")), quoted(parts.string ?? "")]
    }

    /// Whether curl would change the path: it removes dot segments (RFC 3986 §5.2.4), which a session sends.
    private static func hasDotSegments(_ url: URL) -> Bool {
        url.path(percentEncoded: true).lowercased().split(separator: "/").contains {
            [".", ".."].contains($0.replacingOccurrences(of: "%2e", with: "."))
        }
    }

    /// Quotes text for a POSIX shell. Between single quotes, only the quote itself is special. Octets count, not
    /// characters: to the shell, a quote with a combining accent is a quote.
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { octet in
                isUnreservedOctet(octet) && octet != UInt8(ascii: "~") || "/:".utf8.contains(octet)
            }
        if isPlain { return text }
        var quoted: [UInt8] = []
        for octet in text.utf8 {
            if octet == UInt8(ascii: "'") { quoted += "'\\'".utf8 }
            quoted.append(octet)
        }
        return "'" + String(decoding: quoted, as: UTF8.self) + "'"
    }
}

extension URLRequest {
    /// The content in memory; nil if there is none, or if it is empty.
    fileprivate var ownContent: Data? { httpBody.flatMap { $0.isEmpty ? nil : $0 } }

    /// The request as a command line for curl; see ``CURLCommand``.
    public func cURL(
        session: URLSession? = nil,
        credentials: CURLCommand.Credentials = .redacted
    ) -> CURLCommand {
        CURLCommand(self, session: session, credentials: credentials)
    }
}

extension URLCredentialStorage {
    /// The credentials that a session answers challenges of this URL's server with.
    fileprivate func defaultCredentials(for url: URL) -> [URLCredential] {
        let spaces = allCredentials.keys.filter { !$0.isProxy() && $0.isOrigin(of: url) }
        return spaces.compactMap { defaultCredential(for: $0) }.sorted { $0.user ?? "" < $1.user ?? "" }
    }
}
