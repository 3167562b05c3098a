internal import Uncurl

/// A URL pattern with wildcards.
struct URLPattern: Sendable {
    private enum Part {
        case character(Character)
        /// A single star: any characters but slashes.
        case segment
        /// Two stars: any characters.
        case anything
    }

    private let path: [Part]
    /// The parts of the query; nil ignores the query.
    private let query: [String]?
    private let isForAnyHost: Bool

    init(_ text: String) {
        let (path, query) = Self.split(text)
        self.query = query?.sorted()
        isForAnyHost = path.hasPrefix("/")
        self.path = Self.parts(of: isForAnyHost ? path : Self.normalized(path))
    }

    func matches(_ url: String) -> Bool {
        let (text, query) = Self.split(url)
        if let wanted = self.query, wanted != (query ?? []).sorted() { return false }
        guard isForAnyHost else { return fits(Self.normalized(text)) }
        // The path begins after the authority.
        guard let authority = text.range(of: "://"),
            let slash = text[authority.upperBound...].firstIndex(of: "/")
        else { return fits("/") }
        return fits(text[slash...])
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

    /// Whether the pattern matches the whole text. For each character, a table holds the places in the pattern that the
    /// text so far can lead to. This takes time in proportion to the product of both lengths; trying all lengths for
    /// each star would take exponential time.
    private func fits(_ text: some Sequence<Character>) -> Bool {
        var places = [Bool](repeating: false, count: path.count + 1)
        places[0] = true
        passStars(&places)
        for character in text {
            var next = [Bool](repeating: false, count: path.count + 1)
            for (place, part) in path.enumerated() where places[place] {
                switch part {
                case .character(character): next[place + 1] = true
                case .segment where character != "/", .anything: next[place] = true
                case .character, .segment: break
                }
            }
            places = next
            passStars(&places)
        }
        return places[path.count]
    }

    /// A star also stands for no character.
    private func passStars(_ places: inout [Bool]) {
        for (place, part) in path.enumerated() where places[place] {
            if case .character = part { continue }
            places[place + 1] = true
        }
    }

    private static func parts(of text: some StringProtocol) -> [Part] {
        var parts: [Part] = []
        var rest = text[...]
        while let first = rest.first {
            let isCrossing = rest.hasPrefix("**")
            parts.append(isCrossing ? .anything : first == "*" ? .segment : .character(first))
            rest = rest.dropFirst(isCrossing ? 2 : 1)
        }
        return parts
    }
}
