internal import URLLoading

/// Puts any text into a path or a query.
///
/// ```swift
/// let user = try await manager.get("users/\(component: name)?near=\(query: place)", as: User.self)
/// ```
extension DefaultStringInterpolation {
    /// Inserts a text as one component of a path. Every special character is escaped: a slash is part of the name.
    ///
    /// An empty text, `.` and `..` name no component: with them a path would name another folder, or begin with a host
    /// (RFC 3986 §4.2, §5.2.4). A manager refuses such a reference with ``UncurlError/invalidURL(_:reason:)``.
    public mutating func appendInterpolation(component text: some CustomStringConvertible) {
        let text = text.description
        if ["", ".", ".."].contains(text) { appendLiteral(String.noComponent) }
        appendLiteral(text.escapedForURL)
    }

    /// Inserts a text as a name or a value of a query. Every special character is escaped.
    public mutating func appendInterpolation(query text: some CustomStringConvertible) {
        appendLiteral(text.description.escapedForURL)
    }
}

extension String {
    /// Stands before an inserted text that names no component, because an interpolation cannot throw. It is a
    /// noncharacter, which no reference contains otherwise: an inserted one is escaped.
    static let noComponent = String(decoding: [0xFDD0 as UInt16], as: UTF16.self)

    /// Whether the text has ``noComponent``. Its first octet is looked for: the search alone would take longer than all
    /// the rest of a request's making.
    var namesNoComponent: Bool { utf8.contains(0xEF) && contains(String.noComponent) }

    /// The unreserved characters (RFC 3986 §2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    fileprivate var escapedForURL: String { addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
}
