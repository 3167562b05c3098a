import UncurlLoad

/// A web server's log in the common or combined format:
/// ```
/// 127.0.0.1 - - [10/Oct/2026:13:55:36 +0200] "GET /a?b HTTP/1.1" 200 2326 "http://x/" "Mozilla/5.0"
/// ```
/// A log has no bodies, so only GET, HEAD and OPTIONS are sent again: an empty POST would be another request. Referer
/// and User-Agent are sent as they were logged.
enum AccessLogInput {
    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        var seconds: [Int64?] = []
        var others = 0
        var unreadable = 0
        for (text, place) in InputLines(bytes, file) where !text.trimmed.isEmpty {
            guard let open = text.utf8.firstIndex(of: UInt8(ascii: "[")),
                let close = text.utf8[open...].firstIndex(of: UInt8(ascii: "]"))
            else {
                throw place.problem("no [time] in \(quoted(text))")
            }
            guard let time = Timestamp.accessLog(text[text.utf8.index(after: open)..<close]) else {
                throw place.problem("\(quoted(text[open...close])) is no time such as [10/Oct/2026:13:55:36 +0200]")
            }
            let quotes = quotedParts(text[text.utf8.index(after: close)...])
            guard let words = quotes.first?.split(separator: UInt8(ascii: " ")), (2...3).contains(words.count) else {
                // For an unreadable request, servers log `-` or its raw text.
                others += 1
                continue
            }
            let method = String(decoding: words[0], as: UTF8.self)
            guard method.isASCII, ["GET", "HEAD", "OPTIONS"].contains(method) else {
                others += 1
                continue
            }
            // Logs contain targets that cannot be requested, such as scanners' garbage or `OPTIONS *`.
            var url = WrittenURL.encoded(Array(words[1]))
            guard let target = try? TargetURL(url.begins(with: "/") ? "http://localhost\(url)" : url) else {
                others += 1
                continue
            }
            // A server answers a whole URL as its own (RFC 9112 §3.2.2). Scanners put any host into it, which is not
            // to get the load.
            if !url.begins(with: "/") { url = target.target }
            var draft = RequestDraft(method: method, url: url, place: place)
            for (name, octets) in zip(["Referer", "User-Agent"], quotes.dropFirst()) {
                guard let value = String(validating: octets, as: UTF8.self) else {
                    unreadable += 1
                    continue
                }
                if !value.isSame(as: "-"), !value.isEmpty { draft.headers.append("\(name): \(value)") }
            }
            try input.add(draft)
            seconds.append(time)
        }
        if others > 0 {
            input.notes.append(
                "\(file): lines left out: \(others). A log has no content, so volley replays only GET, HEAD and OPTIONS of valid URLs"
            )
        }
        if unreadable > 0 {
            input.notes.append("\(file): fields left out: \(unreadable). Their octets are no UTF-8")
        }
        Timestamp.setOffsets(&input.drafts, Timestamp.spread(seconds))
        return input
    }

    /// The octets between quotes. A backslash escapes a quote, and `\xHH` stands for an octet that is not allowed in a
    /// log.
    private static func quotedParts(_ text: Substring) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var current: [UInt8]?
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), current != nil {
                guard let next = rest.popFirst() else { break }
                if next == UInt8(ascii: "x"), let value = UInt8(Substring(rest.prefix(2)), radix: 16) {
                    current?.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    current?.append(next)
                }
            } else if byte == UInt8(ascii: "\"") {
                if let part = current { parts.append(part) }
                current = current == nil ? [] : nil
            } else {
                current?.append(byte)
            }
        }
        return parts
    }
}
