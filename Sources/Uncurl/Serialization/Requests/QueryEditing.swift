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
        let inner = query.replacing("#", with: "%23")
        return URL(string: text[..<end] + separator + inner + text[end...])
    }
}
