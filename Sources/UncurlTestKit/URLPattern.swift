/// A URL pattern with wildcards.
struct URLPattern: Sendable {
    private let path: PathPattern
    /// The octets of the query's parts, sorted; nil ignores the query.
    private let query: [[UInt8]]?
    private let isForAnyHost: Bool

    init(_ text: String) {
        let (path, query) = Self.split(text)
        self.query = query
        isForAnyHost = path.utf8.first == UInt8(ascii: "/")
        self.path = PathPattern(isForAnyHost ? path : Self.normalized(path))
    }

    func matches(_ url: String) -> Bool {
        let (text, query) = Self.split(url)
        if let wanted = self.query, wanted != query ?? [] { return false }
        guard isForAnyHost else { return path.matches(Self.normalized(text)) }
        // The path begins after the authority.
        guard let authority = Self.authority(of: text), let slash = Self.slash(in: text, from: authority) else {
            return path.matches("/")
        }
        return path.matches(text[slash...])
    }

    /// The text without its query and fragment, and the octets of the query's parts, sorted; nil without a query.
    static func split(_ text: String) -> (text: String, query: [[UInt8]]?) {
        let bare = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = bare.firstIndex(of: UInt8(ascii: "?")) else { return (String(Substring(bare)), nil) }
        let parts = bare[bare.index(after: mark)...].split(separator: UInt8(ascii: "&")).map { Array($0) }
        return (String(Substring(bare[..<mark])), parts.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// The text with scheme and host in lower case, and with a path (RFC 3986 §6.2.2.1, §6.2.3).
    static func normalized(_ text: String) -> String {
        guard let authority = authority(of: text) else { return text }
        guard let slash = slash(in: text, from: authority) else { return text.lowercased() + "/" }
        return text[..<slash].lowercased() + text[slash...]
    }

    /// Where the authority begins; nil without one.
    private static func authority(of text: String) -> String.Index? {
        var rest = text.utf8[...]
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            if rest[colon...].starts(with: "://".utf8) { return rest.index(colon, offsetBy: 3) }
            rest = rest[colon...].dropFirst()
        }
        return nil
    }

    private static func slash(in text: String, from index: String.Index) -> String.Index? {
        text.utf8[index...].firstIndex(of: UInt8(ascii: "/"))
    }
}
