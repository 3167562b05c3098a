internal import URLLoading

extension URL {
    /// The URL with an addition to its query: after `&` where there is a query, even an empty one, and always before
    /// the fragment.
    ///
    /// - Parameter query: an escaped query. A character in it that would end a query is escaped here.
    func appending(query: String) -> URL? {
        guard !query.isEmpty else { return self }
        let text = absoluteString
        let end = text.firstIndex(of: "#") ?? text.endIndex
        let separator = text[..<end].contains("?") ? "&" : "?"
        // Compared octet by octet: `#` with a combining accent is another character, but its octet still ends a query.
        let octets = query.utf8.flatMap { $0 == UInt8(ascii: "#") ? Array("%23".utf8) : [$0] }
        let inner = String(decoding: octets, as: UTF8.self)
        return URL(string: text[..<end] + separator + inner + text[end...])
    }
}
