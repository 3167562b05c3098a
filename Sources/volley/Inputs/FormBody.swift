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
        for part in parts {
            guard let sign = part.firstIndex(of: "="), sign > part.startIndex else {
                throw UsageError("--form \(quoted(part)) is not NAME=VALUE or NAME=@FILE")
            }
            let name = part[..<sign]
            var value = String(part[part.index(after: sign)...])
            var file: String?
            var type: String?
            var content = Array(value.utf8)
            if value.hasPrefix("@") {
                var options: [String: String] = [:]
                let pieces = value.dropFirst().split(separator: ";", omittingEmptySubsequences: false).map {
                    $0.trimmed
                }
                for piece in pieces.dropFirst() {
                    let pair = piece.split(separator: "=", maxSplits: 1).map(String.init)
                    guard pair.count == 2, ["type", "filename"].contains(pair[0]) else {
                        throw UsageError("--form \(quoted(part)): only ;type= and ;filename= may follow a file")
                    }
                    options[pair[0]] = pair[1]
                }
                value = pieces[0]
                content = try Files.read(value, for: "--form")
                file = try escaped(options["filename"] ?? String(value.split(separator: "/").last ?? ""), in: part)
                type = options["type"] ?? "application/octet-stream"
            }
            if let type, !type.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
                throw UsageError("--form \(quoted(part)): \(quoted(type)) is no media type")
            }
            let fields = MultipartLayout.fields(name: try escaped(name, in: part), fileName: file, contentType: type)
            bytes += layout.opening(fields: fields, isFirst: bytes.isEmpty) + content
        }
        return (bytes + layout.closing(isEmpty: bytes.isEmpty), layout.contentType)
    }

    private static func escaped(_ name: some StringProtocol, in part: String) throws(UsageError) -> String {
        guard let escaped = MultipartLayout.escaped(name) else {
            throw UsageError("--form \(quoted(part)): a name holds a NUL")
        }
        return escaped
    }
}
