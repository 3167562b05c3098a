import UncurlLoad
import UncurlSemantics

/// One part of a multipart form (RFC 7578). A `--form` has words between semicolons; as in curl, a word in quotes may
/// contain semicolons; `\"` and `\\` stand for a quote and a backslash there. Without a closing quote, the first quote
/// is part of the word.
struct FormPart {
    /// The names of the part and of its file, escaped for a field's value.
    private(set) var name = ""
    private(set) var fileName: String?
    private(set) var type: String?
    private(set) var content: [UInt8] = []
    private var rest: Substring.UTF8View
    /// What has the text, for an error message.
    private let owner: String

    private static let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    private static let (semicolon, equals) = (UInt8(ascii: ";"), UInt8(ascii: "="))

    /// The body of several `--form`, and its Content-Type.
    static func body(_ texts: [String]) throws(UsageError) -> (bytes: [UInt8], type: String) {
        var parts: [FormPart] = []
        for text in texts { parts.append(try FormPart(text)) }
        // A fixed boundary, so that the same form has the same bytes in every run.
        guard let layout = MultipartLayout(boundary: "----volley-form-7d41b838504d8") else {
            throw UsageError("--form has no boundary")
        }
        var bytes: [UInt8] = []
        for part in parts {
            let fields = MultipartLayout.fields(name: part.name, fileName: part.fileName, contentType: part.type)
            bytes += layout.opening(fields: fields, isFirst: bytes.isEmpty) + part.content
        }
        return (bytes + layout.closing(isEmpty: bytes.isEmpty), layout.contentType)
    }

    /// Reads a `--form` as curl does: `NAME=VALUE`, `NAME=<FILE` for a file's content as the value, or `NAME=@FILE` for
    /// the file; then `;type=` and `;filename=`. What follows a sign may be in quotes.
    init(_ text: String) throws(UsageError) {
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
            throw UsageError("--form \(quoted(text)) is not NAME=VALUE or NAME=@FILE")
        }
        let value = text[text.index(after: sign)...]
        (rest, owner) = (value.utf8, "--form \(quoted(text))")
        if value.hasPrefix("@") || value.hasPrefix("<") {
            rest = rest.dropFirst()
            let path = try next()
            try readOptions()
            content = try readFile(path, for: "--form")
            if value.hasPrefix("@") {
                fileName = fileName ?? String(path.split(separator: "/").last ?? "")
                type = type ?? "application/octet-stream"
            }
        } else {
            content = Array(try nextContent().utf8)
            try readOptions()
        }
        fileName = try fileName.map { name throws(UsageError) in try escaped(name) }
        if let type, type.isEmpty || !type.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw UsageError("\(owner): \(quoted(type)) is no media type")
        }
        name = try escaped(text[..<sign])
    }

    private func escaped(_ name: some StringProtocol) throws(UsageError) -> String {
        guard let escaped = MultipartLayout.escaped(name) else {
            throw UsageError("\(owner): a name holds a NUL")
        }
        return escaped
    }

    private mutating func next() throws(UsageError) -> String {
        if let word = try nextInQuotes() { return word }
        let word = rest.prefix { $0 != Self.semicolon }
        rest = rest[word.endIndex...]
        return Substring(word).trimmed
    }

    /// Takes a value, up to its options: any other semicolon is part of it.
    private mutating func nextContent() throws(UsageError) -> String {
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

    private mutating func readOptions() throws(UsageError) {
        while rest.popFirst() != nil {
            let start = Self.withoutBlanks(rest)
            let name = start.prefix { $0 != Self.equals && $0 != Self.semicolon }
            rest = start[name.endIndex...]
            guard rest.popFirst() == Self.equals, ["type", "filename"].contains(Substring(name)) else {
                throw UsageError("\(owner): only ;type= and ;filename= may follow its content")
            }
            let word = try next()
            if name.elementsEqual("type".utf8) { type = word } else { fileName = word }
        }
    }

    private mutating func nextInQuotes() throws(UsageError) -> String? {
        var inner = Self.withoutBlanks(rest)
        guard inner.popFirst() == Self.quote else { return nil }
        var word: [UInt8] = []
        while let octet = inner.popFirst() {
            if octet == Self.quote {
                rest = Self.withoutBlanks(inner)
                try need(rest.isEmpty || rest.first == Self.semicolon, "\(owner): something follows a value in quotes")
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
