internal import URLLoading
internal import UncurlSemantics

extension WebOrigin {
    /// Nil for a URL of another scheme than http, https, ws and wss, and for one without a host.
    init?(of url: URL) {
        guard let scheme = url.scheme, let host = url.host else { return nil }
        self.init(scheme: scheme, host: Self.bare(host), port: url.port)
    }

    /// The name without the brackets of an IPv6 address.
    static func bare(_ host: String) -> String { host.trimmingCharacters(in: ["[", "]"]) }
}

extension URLProtectionSpace {
    /// Whether this is a space of the origin of the URL: scheme, host and port (RFC 9110 §4.3.1).
    func isOrigin(of url: URL?) -> Bool {
        guard let url, let own = self.protocol, let origin = WebOrigin(of: url) else { return false }
        let constants = [NSURLProtectionSpaceHTTP: "http", NSURLProtectionSpaceHTTPS: "https"]
        return origin == WebOrigin(scheme: constants[own] ?? own, host: WebOrigin.bare(host), port: port)
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
        appendLiteral(text.escapedForURL)
    }

    /// Inserts a text as a name or a value of a query. Every special character is escaped.
    public mutating func appendInterpolation(query text: some CustomStringConvertible) {
        appendLiteral(text.description.escapedForURL)
    }
}

extension String {
    /// Stands before an inserted text that names no component, because an interpolation cannot throw. It is a
    /// noncharacter, which no reference contains otherwise: an inserted one is escaped.
    static let noComponent = String(decoding: [0xFDD0 as UInt16], as: UTF16.self)

    /// Whether the text has ``noComponent``. Its first octet is looked for: the search alone would take longer than all
    /// the rest of a request's making.
    var namesNoComponent: Bool { utf8.contains(0xEF) && contains(String.noComponent) }

    /// The unreserved characters (RFC 3986 §2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    fileprivate var escapedForURL: String { addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
}
