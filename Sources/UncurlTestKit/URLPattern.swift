internal import Uncurl

/// A URL pattern with wildcards.
struct URLPattern: Sendable {
    private let path: PathPattern
    /// The parts of the query; nil ignores the query.
    private let query: [String]?
    private let isForAnyHost: Bool

    init(_ text: String) {
        let (path, query) = Self.split(text)
        self.query = query?.sorted()
        isForAnyHost = path.hasPrefix("/")
        self.path = PathPattern(isForAnyHost ? path : Self.normalized(path))
    }

    func matches(_ url: String) -> Bool {
        let (text, query) = Self.split(url)
        if let wanted = self.query, wanted != (query ?? []).sorted() { return false }
        guard isForAnyHost else { return path.matches(Self.normalized(text)) }
        // The path begins after the authority.
        guard let authority = text.range(of: "://"),
            let slash = text[authority.upperBound...].firstIndex(of: "/")
        else { return path.matches("/") }
        return path.matches(text[slash...])
    }

    /// The text without its fragment, and the parts of its query.
    private static func split(_ text: String) -> (String, [String]?) {
        let bare = text.prefix { $0 != "#" }
        guard let mark = bare.firstIndex(of: "?") else { return (String(bare), nil) }
        let query = bare[bare.index(after: mark)...]
        return (String(bare[..<mark]), query.split(separator: "&").map(String.init))
    }

    /// The text with scheme and host in lower case, and with a path (RFC 3986 §6.2.2.1, §6.2.3).
    static func normalized(_ text: String) -> String {
        guard let authority = text.range(of: "://") else { return text }
        guard let slash = text[authority.upperBound...].firstIndex(of: "/") else { return text.lowercased() + "/" }
        return text[..<slash].lowercased() + text[slash...]
    }
}
