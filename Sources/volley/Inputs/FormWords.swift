import UncurlLoad

/// Reads the words between the semicolons of a `--form`. As in curl, a word in quotes may contain semicolons; `\"` and
/// `\\` stand for a quote and a backslash there. Without a closing quote, the first quote is part of the word.
struct FormWords {
    private static let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    private static let (semicolon, equals) = (UInt8(ascii: ";"), UInt8(ascii: "="))

    private var rest: Substring.UTF8View
    private let owner: String

    /// - Parameter owner: What has the text, for an error message.
    init(_ text: Substring, of owner: String) { (rest, self.owner) = (text.utf8, owner) }

    mutating func skipSign() { rest = rest.dropFirst() }

    /// Takes a word, without blanks around it.
    mutating func next() throws(UsageError) -> String {
        if let word = try nextInQuotes() { return word }
        let word = rest.prefix { $0 != Self.semicolon }
        rest = rest[word.endIndex...]
        return Substring(word).trimmed
    }

    /// Takes a value, up to its options: any other semicolon is part of it.
    mutating func nextContent() throws(UsageError) -> String {
        if let word = try nextInQuotes() { return word }
        let end =
            rest.indices.first { start in
                guard rest[start] == Self.semicolon else { return false }
                let option = Self.withoutBlanks(rest[start...].dropFirst())
                return option.starts(with: "type=".utf8) || option.starts(with: "filename=".utf8)
            } ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(Substring(rest[..<end]))
    }

    /// Takes all options, by their names.
    mutating func options() throws(UsageError) -> [String: String] {
        var options: [String: String] = [:]
        while rest.popFirst() != nil {
            let start = Self.withoutBlanks(rest)
            let name = start.prefix { $0 != Self.equals && $0 != Self.semicolon }
            rest = start[name.endIndex...]
            guard rest.popFirst() == Self.equals, ["type", "filename"].contains(Substring(name)) else {
                throw UsageError("\(owner): only ;type= and ;filename= may follow its content")
            }
            options[String(Substring(name))] = try next()
        }
        return options
    }

    private mutating func nextInQuotes() throws(UsageError) -> String? {
        var inner = Self.withoutBlanks(rest)
        guard inner.popFirst() == Self.quote else { return nil }
        var word: [UInt8] = []
        while let octet = inner.popFirst() {
            if octet == Self.quote {
                rest = Self.withoutBlanks(inner)
                guard rest.isEmpty || rest.first == Self.semicolon else {
                    throw UsageError("\(owner): something follows a value in quotes")
                }
                return String(decoding: word, as: UTF8.self)
            }
            if octet == Self.backslash, let next = inner.first, next == Self.quote || next == Self.backslash {
                word.append(next)
                inner = inner.dropFirst()
            } else {
                word.append(octet)
            }
        }
        return nil
    }

    private static func withoutBlanks(_ text: Substring.UTF8View) -> Substring.UTF8View {
        text.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }
}
