import UncurlLoad
import UncurlLoadReports
import UncurlText

/// Reads an HTTP Archive, as browsers export it: `log.entries`, each with its request and its start time.
enum HARInput {
    /// Fields that volley sets itself, or that concern only the recorded connection (RFC 9110 §7.6.1).
    private static let dropped: Set<String> = [
        "content-length", "connection", "transfer-encoding", "keep-alive", "proxy-connection", "upgrade", "te",
        "expect", "proxy-authorization",
    ]

    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        func place(_ number: Int) -> InputPlace { InputPlace(file: file, line: number, unit: "entry") }
        let json = try InputDocument.read(bytes, file, loneSurrogates: true)
        guard let entries = json["log"]?["entries"]?.elements else {
            throw UsageError("\(quoted(file)) is no HTTP Archive: it has no log.entries")
        }
        var input = RequestInput()
        var starts: [Int64?] = []
        var others = 0
        for (index, entry) in entries.enumerated() {
            let place = place(index + 1)
            guard let request = entry["request"], let method = request["method"]?.string,
                let url = request["url"]?.string
            else { throw place.problem("it has no request with method and url") }
            // An archive also has blobs, data URLs and WebSockets.
            guard url.lowercased().begins(with: "http"), !method.isSame(as: "CONNECT") else {
                others += 1
                continue
            }
            let address = WrittenURL.encoded(url.prefix(before: "#"), keepingPlaceholders: true)
            var draft = RequestDraft(method: method, url: address, place: place)
            for field in request["headers"]?.elements ?? [] {
                guard let name = field["name"]?.string, let value = field["value"]?.string else {
                    throw place.problem("a header has no name and value")
                }
                if name.begins(with: ":") || name.isASCII && dropped.contains(name.lowercased()) { continue }
                draft.headers.append("\(name): \(value)")
            }
            draft.body = try body(request, place)
            // Some exporters name the content's type only beside the content.
            if draft.body != nil, let type = request["postData"]?["mimeType"]?.string, !type.isEmpty {
                draft.headers = draft.headers.adding(["Content-Type: \(type)"])
            }
            // In HAR 1.2, the comment is the user's text for an entry.
            draft.name = entry["comment"]?.string.flatMap { $0.isEmpty ? nil : $0 }
            try input.add(draft)
            starts.append(entry["startedDateTime"]?.string.flatMap { Timestamp.iso8601($0) })
        }
        if others > 0 { input.notes.append("\(file): entries left out: \(others). They are not HTTP requests") }
        Timestamp.setOffsets(&input.drafts, starts)
        return input
    }

    private static func body(_ request: JSONTree, _ place: InputPlace) throws(UsageError) -> [UInt8]? {
        guard let text = request["postData"]?["text"]?.string else { return try form(request, place) }
        guard request["postData"]?["encoding"]?.string?.isSame(as: "base64") == true else { return Array(text.utf8) }
        guard let bytes = Base64.decode(text) else { throw place.problem("the body is not in Base64") }
        return bytes
    }

    /// Some exporters describe a form only by its fields.
    private static func form(_ request: JSONTree, _ place: InputPlace) throws(UsageError) -> [UInt8]? {
        guard let post = request["postData"], let fields = post["params"]?.elements, !fields.isEmpty else { return nil }
        guard post["mimeType"]?.string?.lowercased().begins(with: "application/x-www-form-urlencoded") == true else {
            throw place.problem(
                "its form has only params, and not the content that was sent: export it with postData.text"
            )
        }
        var bytes: [UInt8] = []
        for field in fields {
            guard let name = field["name"]?.string else { throw place.problem("a field of its form has no name") }
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            for byte in name.utf8 { Template.encode(byte, &bytes) }
            bytes.append(UInt8(ascii: "="))
            for byte in (field["value"]?.string ?? "").utf8 { Template.encode(byte, &bytes) }
        }
        return bytes
    }
}
