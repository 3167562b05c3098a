package import FoundationEssentials
internal import UncurlSemantics

/// The text of URLs, for the engine and for error messages.
extension URL {
    /// The URL without its user information, query and fragment, which may be secrets.
    package var redacted: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "?" }
        parts.user = nil
        parts.password = nil
        let end = parts.query == nil ? "" : "?…"
        (parts.query, parts.fragment) = (nil, nil)
        return parts.string.map { $0 + end } ?? "?"
    }

    /// The URL with its scheme in lower case; nil for a URL that has no scheme.
    var withLowercaseScheme: URL? {
        let text = absoluteString
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return URL(string: text[..<colon].lowercased() + text[colon...])
    }
}

/// Foundation's URLs in the form that the rules take.
extension URIReference {
    init(_ url: URL) { self.init(url.absoluteString) }

    /// Reads a text; nil if Foundation makes no URL of it. It changes a host with octets that are no ASCII into the one
    /// that is looked up (RFC 5891).
    static func read(_ text: String) -> URIReference? { URL(string: text).map { URIReference($0) } }

    /// Foundation's URL of the same text; nil only for a text that did not come from one.
    var url: URL? { URL(string: text) }
}
