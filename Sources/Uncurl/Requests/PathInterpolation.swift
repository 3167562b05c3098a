internal import URLLoading

/// Puts any text into a path or a query.
///
/// ```swift
/// let user = try await manager.get("users/\(component: name)?near=\(query: place)", as: User.self)
/// ```
extension DefaultStringInterpolation {
    /// Inserts a text as one component of a path. Every special character is escaped: a slash is part of the name, and
    /// so is `..`.
    public mutating func appendInterpolation(component text: some CustomStringConvertible) {
        let text = text.description
        // Unescaped, this component would name the folder itself or its parent (RFC 3986 §5.2.4).
        if text == "." || text == ".." { return appendLiteral(text.replacing(".", with: "%2E")) }
        appendLiteral(text.escapedForURL)
    }

    /// Inserts a text as a name or a value of a query. Every special character is escaped.
    public mutating func appendInterpolation(query text: some CustomStringConvertible) {
        appendLiteral(text.description.escapedForURL)
    }
}

extension String {
    /// The unreserved characters (RFC 3986 §2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    fileprivate var escapedForURL: String { addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
}
