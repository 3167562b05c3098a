internal import URLLoading

/// Any text in a path or in a query.
///
/// ```swift
/// let user = try await manager.get("users/\(component: name)?near=\(query: place)", as: User.self)
/// ```
extension DefaultStringInterpolation {
    /// A text as one component of a path, whatever is in it: a slash in it leads nowhere, and `..` is a name.
    public mutating func appendInterpolation(component text: some CustomStringConvertible) {
        let text = text.description
        // As a whole component it would name the folder itself or the one above (RFC 3986 §5.2.4).
        if text == "." || text == ".." { return appendLiteral(text.replacing(".", with: "%2E")) }
        appendLiteral(text.escapedForURL)
    }

    /// A text as a name or a value in a query, whatever is in it.
    public mutating func appendInterpolation(query text: some CustomStringConvertible) {
        appendLiteral(text.description.escapedForURL)
    }
}

extension String {
    /// RFC 3986 §2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    fileprivate var escapedForURL: String { addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
}
