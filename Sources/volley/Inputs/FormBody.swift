import HTTPSemantics
import LoadGenerator

/// Multipart forms (RFC 7578).
enum FormBody {
    /// The body of several `--form`, and its Content-Type.
    static func body(_ texts: [String]) throws(UsageError) -> (bytes: [UInt8], type: String) {
        var parts: [FormPart] = []
        for text in texts { parts.append(try FormPart(text)) }
        return try body(parts)
    }

    /// The body of a form of these parts, and its Content-Type.
    static func body(_ parts: [FormPart]) throws(UsageError) -> (bytes: [UInt8], type: String) {
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
}

/// One part of a form.
struct FormPart {
    /// The names of the part and of its file, escaped for a field's value.
    let name: String
    private(set) var fileName: String?
    private(set) var type: String?
    let content: [UInt8]

    /// - Parameter owner: What has the part, for an error message.
    init(
        name: String,
        fileName: String? = nil,
        type: String? = nil,
        content: [UInt8],
        of owner: String
    ) throws(UsageError) {
        (self.type, self.content) = (type, content)
        self.name = try Self.escaped(name, in: owner)
        if let fileName { self.fileName = try Self.escaped(fileName, in: owner) }
    }

    /// Reads a `--form` as curl does: `NAME=VALUE`, `NAME=<FILE` for a file's content as the value, or `NAME=@FILE` for
    /// the file; then `;type=` and `;filename=`.
    init(_ text: String) throws(UsageError) {
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
            throw UsageError("--form \(quoted(text)) is not NAME=VALUE or NAME=@FILE")
        }
        let value = text[text.index(after: sign)...]
        var fileName: String?
        if value.hasPrefix("@") || value.hasPrefix("<") {
            let pieces = value.dropFirst().split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmed }
            let options = try Self.options(pieces.dropFirst(), of: text)
            content = try Files.read(pieces[0], for: "--form")
            (fileName, type) = (options["filename"], options["type"])
            if value.hasPrefix("@") {
                fileName = fileName ?? String(pieces[0].split(separator: "/").last ?? "")
                type = type ?? "application/octet-stream"
            }
        } else {
            // Any other semicolon is part of the value.
            let pieces = value.split(separator: ";", omittingEmptySubsequences: false)
            let end = pieces.firstIndex { $0.trimmed.hasPrefix("type=") || $0.trimmed.hasPrefix("filename=") }
            let options = try Self.options(pieces[(end ?? pieces.count)...].map { $0.trimmed }[...], of: text)
            content = Array(pieces[..<(end ?? pieces.count)].joined(separator: ";").utf8)
            (fileName, type) = (options["filename"], options["type"])
        }
        let owner = "--form \(quoted(text))"
        if let fileName { self.fileName = try Self.escaped(fileName, in: owner) }
        if let type, !type.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw UsageError("--form \(quoted(text)): \(quoted(type)) is no media type")
        }
        name = try Self.escaped(text[..<sign], in: owner)
    }

    private static func options(_ pieces: ArraySlice<String>, of text: String) throws(UsageError) -> [String: String] {
        var options: [String: String] = [:]
        for piece in pieces {
            let pair = piece.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, ["type", "filename"].contains(pair[0]) else {
                throw UsageError("--form \(quoted(text)): only ;type= and ;filename= may follow its content")
            }
            options[pair[0]] = pair[1]
        }
        return options
    }

    private static func escaped(_ name: some StringProtocol, in owner: String) throws(UsageError) -> String {
        guard let escaped = MultipartLayout.escaped(name) else {
            throw UsageError("\(owner): a name holds a NUL")
        }
        return escaped
    }
}
