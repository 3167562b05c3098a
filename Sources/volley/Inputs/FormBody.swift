import LoadGenerator

/// `--form`, as in curl: `NAME=VALUE`, `NAME=@FILE`, with `;type=` and `;filename=` behind it (RFC 7578).
enum FormBody {
    /// The body, and the Content-Type that goes with it.
    static func body(_ parts: [String]) throws(UsageError) -> (bytes: [UInt8], type: String) {
        // The same bytes for the same form: a boundary by chance would make two runs differ.
        let boundary = "----volley-form-7d41b838504d8"
        var bytes: [UInt8] = []
        for part in parts {
            guard let sign = part.firstIndex(of: "="), sign > part.startIndex else {
                throw UsageError("--form \(quoted(part)) is not NAME=VALUE or NAME=@FILE")
            }
            let name = part[..<sign]
            var value = String(part[part.index(after: sign)...])
            var disposition = "form-data; name=\"\(escaped(name))\""
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
                let file = options["filename"] ?? String(value.split(separator: "/").last ?? "")
                disposition += "; filename=\"\(escaped(file))\""
                type = options["type"] ?? "application/octet-stream"
            }
            bytes += "--\(boundary)\r\nContent-Disposition: \(disposition)\r\n".utf8
            if let type {
                guard type.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                    throw UsageError("--form \(quoted(part)): \(quoted(type)) is no media type")
                }
                bytes += "Content-Type: \(type)\r\n".utf8
            }
            bytes += Array("\r\n".utf8) + content + Array("\r\n".utf8)
        }
        bytes += "--\(boundary)--\r\n".utf8
        return (bytes, "multipart/form-data; boundary=\(boundary)")
    }

    /// RFC 7578 §4.2, as browsers do it.
    private static func escaped(_ name: some StringProtocol) -> String {
        name.map { character in
            switch character {
            case "\"": "%22"
            case "\r", "\n", "\r\n": "%0A"
            default: String(character)
            }
        }.joined()
    }
}
