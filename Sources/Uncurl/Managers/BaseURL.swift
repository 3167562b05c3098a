internal import URLLoading

/// Resolves references against a base URL.
struct BaseURL: Sendable {
    let url: URL
    /// The base as text, up to and with the last slash of its path. Nil where appending a plain reference is not
    /// enough.
    private let prefix: String?

    /// A path that does not end in a slash gets one: `…/v1` and `users` are to make `…/v1/users`.
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
        prefix = text.hasSuffix("/") && !text.contains("?") && !text.contains("#") ? text : nil
    }

    /// Resolves by RFC 3986 §5.2: a whole URL replaces the base, a path with a slash in front replaces its path.
    /// Characters that a URL must write as %XX are written so, as `URL(string:)` does; what is written so already
    /// stays.
    func resolve(_ reference: String) throws(UncurlError) -> URL {
        if reference.isEmpty { return url }
        if let prefix, reference.isPlainReference, let url = URL(string: prefix + reference) { return url }
        return try Self.checked(URL(string: reference.escapingInvalid, relativeTo: url), reference)
    }

    static func absolute(_ reference: String) throws(UncurlError) -> URL {
        try checked(URL(string: reference.escapingInvalid), reference)
    }

    private static func checked(_ url: URL?, _ reference: String) throws(UncurlError) -> URL {
        guard let url = url?.absoluteURL else {
            throw .invalidURL(reference, reason: "it has no form of a URL")
        }
        guard let scheme = url.scheme else {
            throw .invalidURL(reference, reason: "it is relative, and the manager has no base URL")
        }
        let isRemote = ["http", "https"].contains(scheme.lowercased())
        if isRemote, url.host?.isEmpty ?? true { throw .invalidURL(reference, reason: "it names no host") }
        return url
    }
}

extension String {
    /// With %XX in place of octets that no URL has, and of a `%` that begins none (RFC 3986 §2). `URL(string:)` would
    /// escape once more what is escaped already in a text that has such octets.
    fileprivate var escapingInvalid: String {
        guard URL(string: self, encodingInvalidCharacters: false) == nil else { return self }
        let octets = Array(utf8)
        // An address of IPv6 stands in brackets; elsewhere they are escaped.
        let plain = Set("-._~:/?#@!$&'()*+,;=".utf8).union(contains("//[") ? "[]".utf8 : "".utf8)
        return octets.indices.reduce(into: "") { text, index in
            let octet = octets[index]
            let isEscape =
                octet == UInt8(ascii: "%") && index + 2 < octets.count
                && Character(Unicode.Scalar(octets[index + 1])).isHexDigit
                && Character(Unicode.Scalar(octets[index + 2])).isHexDigit
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: text.unicodeScalars.append(Unicode.Scalar(octet))
            case _ where isEscape || plain.contains(octet): text.unicodeScalars.append(Unicode.Scalar(octet))
            default: text += String(format: "%%%02X", Int(octet))
            }
        }
    }

    /// Segments of letters, digits, `-`, `_` and `~`, with a query of the same: what stands behind the base just as it
    /// is. Dots are left out, as they may be `..`.
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
