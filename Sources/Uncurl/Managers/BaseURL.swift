internal import URLLoading
internal import UncurlHTTP1
internal import UncurlSemantics
internal import UncurlText

/// Resolves references against a base URL.
struct BaseURL: Sendable {
    let url: URL
    /// The text of the base up to the last slash of its path. Nil where a plain reference cannot simply be appended to
    /// it.
    private let prefix: String?
    private let origin: WebOrigin?

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
        origin = WebOrigin(of: self.url)
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

    /// Whether a URL has the base's origin: its scheme, host and port (RFC 9110 §4.3.1).
    func isOrigin(of url: URL) -> Bool { origin != nil && WebOrigin(of: url) == origin }

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
        let host = Self.host(in: octets)
        let escaped = PercentCoding.mended(octets[...]) { index in
            octets[index].isPathOrQueryOctet || octets[index] == UInt8(ascii: "#") || host.contains(index)
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Where a reference has its host and port; empty if it has none (RFC 3986 §3.2, appendix B).
    private static func host(in octets: [UInt8]) -> Range<Int> {
        let scheme = octets.prefix { !":/?#".utf8.contains($0) }
        let start = octets[scheme.endIndex...].first == UInt8(ascii: ":") ? scheme.endIndex + 1 : 0
        guard octets[start...].starts(with: "//".utf8) else { return start..<start }
        let authority = octets[(start + 2)...].prefix { !"/?#".utf8.contains($0) }
        let user = authority.lastIndex(of: UInt8(ascii: "@"))
        return (user.map { $0 + 1 } ?? authority.startIndex)..<authority.endIndex
    }

    /// Whether the reference can be appended to the base as it is: it has only segments of letters, digits, `-`, `_`
    /// and `~`, and a query of the same. Dots are excluded because of `..`.
    fileprivate var isPlainReference: Bool {
        guard let first = utf8.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "?") else { return false }
        return utf8.allSatisfy { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "?"),
                UInt8(ascii: "="), UInt8(ascii: "&"):
                true
            default: false
            }
        }
    }
}
