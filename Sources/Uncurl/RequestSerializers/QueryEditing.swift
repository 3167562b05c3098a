internal import URLLoading

extension URL {
    /// The URL with more in its query: behind `&` where there is a query, an empty one too, and always before the
    /// fragment.
    ///
    /// - Parameter query: escaped already; what would end a query in it is escaped here.
    func appending(query: String) -> URL? {
        guard !query.isEmpty else { return self }
        let text = absoluteString
        let end = text.firstIndex(of: "#") ?? text.endIndex
        let separator = text[..<end].contains("?") ? "&" : "?"
        // Compared by octets: a character with an accent differs as a character, and ends a query all the same.
        let octets = query.utf8.flatMap { $0 == UInt8(ascii: "#") ? Array("%23".utf8) : [$0] }
        let inner = String(decoding: octets, as: UTF8.self)
        return URL(string: text[..<end] + separator + inner + text[end...])
    }
}
