import HTTPSemantics
import LoadGenerator

/// Reads `--form`, as in curl: `NAME=VALUE` or `NAME=@FILE`, followed by `;type=` and `;filename=` (RFC 7578).
enum FormBody {
    /// The body, and its Content-Type.
    static func body(_ parts: [String]) throws(UsageError) -> (bytes: [UInt8], type: String) {
        // A fixed boundary, so that the same form has the same bytes in every run.
        guard let layout = MultipartLayout(boundary: "----volley-form-7d41b838504d8") else {
            throw UsageError("--form has no boundary")
        }
        var bytes: [UInt8] = []
        for text in parts {
            let part = try FormPart(text)
            let fields = MultipartLayout.fields(name: part.name, fileName: part.fileName, contentType: part.type)
            bytes += layout.opening(fields: fields, isFirst: bytes.isEmpty) + part.content
        }
        return (bytes + layout.closing(isEmpty: bytes.isEmpty), layout.contentType)
    }
}

/// One `--form`. Names are escaped for a field's value.
private struct FormPart {
    let name: String
    let content: [UInt8]
    private(set) var fileName: String?
    private(set) var type: String?

    init(_ text: String) throws(UsageError) {
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
            throw UsageError("--form \(quoted(text)) is not NAME=VALUE or NAME=@FILE")
        }
        let value = text[text.index(after: sign)...]
        if value.hasPrefix("@") {
            let pieces = value.dropFirst().split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmed }
            let options = try Self.options(pieces.dropFirst(), of: text)
            content = try Files.read(pieces[0], for: "--form")
            let usual = pieces[0].split(separator: "/").last ?? ""
            fileName = try Self.escaped(options["filename"] ?? String(usual), in: text)
            type = options["type"] ?? "application/octet-stream"
        } else {
            content = Array(value.utf8)
        }
        if let type, !type.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw UsageError("--form \(quoted(text)): \(quoted(type)) is no media type")
        }
        name = try Self.escaped(text[..<sign], in: text)
    }

    private static func options(_ pieces: ArraySlice<String>, of text: String) throws(UsageError) -> [String: String] {
        var options: [String: String] = [:]
        for piece in pieces {
            let pair = piece.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, ["type", "filename"].contains(pair[0]) else {
                throw UsageError("--form \(quoted(text)): only ;type= and ;filename= may follow a file")
            }
            options[pair[0]] = pair[1]
        }
        return options
    }

    private static func escaped(_ name: some StringProtocol, in text: String) throws(UsageError) -> String {
        guard let escaped = MultipartLayout.escaped(name) else {
            throw UsageError("--form \(quoted(text)): a name holds a NUL")
        }
        return escaped
    }
}
