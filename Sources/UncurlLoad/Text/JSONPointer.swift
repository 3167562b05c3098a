package import UncurlText

/// A place in a JSON document (RFC 6901): `/items/0/id`. The empty text is the whole document.
package struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    private let tokens: [String]

    /// Returns nil if the text does not begin with a slash, or has a `~` that is neither `~0` nor `~1`.
    package init?(_ text: String) {
        description = text
        guard text.isEmpty || text.begins(with: "/") else { return nil }
        var tokens: [String] = []
        for token in text.parts(at: "/").dropFirst() {
            guard let token = Self.unescaped(token) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    private static func unescaped(_ token: Substring) -> String? {
        guard token.utf8.contains(UInt8(ascii: "~")) else { return String(token) }
        var parts = token.parts(at: "~")[...]
        var text = String(parts.popFirst() ?? "")
        for part in parts {
            guard let code = part.utf8.first else { return nil }
            switch Unicode.Scalar(code) {
            case "0": text += "~"
            case "1": text += "/"
            default: return nil
            }
            text += Substring(part.utf8.dropFirst())
        }
        return text
    }

    /// Returns the value at the place. Nil if there is none.
    package func value(in document: JSONTree) -> JSONTree? {
        tokens.reduce(document as JSONTree?) { value, token in
            switch value {
            case .array(let elements)?:
                // RFC 6901 §4: digits, without leading zeros.
                guard let index = Int(token), String(index) == token, elements.indices.contains(index) else {
                    return nil
                }
                return elements[index]
            case .object?: return value?[token]
            case .null?, .bool?, .integer?, .number?, .string?, nil: return nil
            }
        }
    }
}
