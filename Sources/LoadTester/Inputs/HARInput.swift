/// An HTTP Archive, as browsers export it: `log.entries`, each with its request and when it started.
enum HARInput {
    /// Fields that are volley's own, or that HTTP/2 and 3 know under other names.
    private static let dropped: Set<String> = [
        "content-length", "connection", "transfer-encoding", "keep-alive", "proxy-connection", "upgrade", "te",
        "expect",
    ]

    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        func place(_ number: Int) -> InputPlace { InputPlace(file: file, line: number, unit: "entry") }
        guard let json = JSONInput(bytes), let entries = json["log"]?["entries"]?.elements else {
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
            // Blobs, data URLs and WebSockets are in there too.
            guard url.lowercased().hasPrefix("http"), method != "CONNECT" else {
                others += 1
                continue
            }
            let address = String(url.prefix { $0 != "#" })
            var draft = RequestDraft(method: method, url: address, place: place)
            for field in request["headers"]?.elements ?? [] {
                guard let name = field["name"]?.string, let value = field["value"]?.string else {
                    throw place.problem("a header has no name and value")
                }
                if name.hasPrefix(":") || dropped.contains(name.lowercased()) { continue }
                draft.headers.append("\(name): \(value)")
            }
            draft.body = try body(request, place)
            input.drafts.append(draft)
            starts.append(entry["startedDateTime"]?.string.flatMap { Timestamp.iso8601($0) })
        }
        if others > 0 { input.notes.append("\(file): \(others) entries are no HTTP requests and were left out") }
        Timestamp.setOffsets(&input.drafts, starts)
        return input
    }

    private static func body(_ request: JSONInput, _ place: InputPlace) throws(UsageError) -> [UInt8]? {
        guard let json = request["postData"]?["text"], let text = json.string else { return nil }
        guard request["postData"]?["encoding"]?.string == "base64" else { return Array(text.utf8) }
        guard let bytes = json.base64 else { throw place.problem("the body is not in Base64") }
        return bytes
    }
}
