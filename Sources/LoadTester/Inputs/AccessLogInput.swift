/// A web server's log in the common or combined format:
/// ```
/// 127.0.0.1 - - [10/Oct/2026:13:55:36 +0200] "GET /a?b HTTP/1.1" 200 2326 "http://x/" "Mozilla/5.0"
/// ```
/// A log has no bodies, so only GET, HEAD and OPTIONS are sent again: an empty POST would be another request. Referer and
/// User-Agent are sent as they were logged.
enum AccessLogInput {
    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        var seconds: [Int64?] = []
        var others = 0
        for (text, place) in InputLines(bytes, file) where !text.trimmed.isEmpty {
            guard let open = text.firstIndex(of: "["), let close = text[open...].firstIndex(of: "]") else {
                throw place.problem("no [time] in \(quoted(text))")
            }
            guard let time = Timestamp.accessLog(text[text.index(after: open)..<close]) else {
                throw place.problem("\(quoted(text[open...close])) is no time such as [10/Oct/2026:13:55:36 +0200]")
            }
            let quotes = quotedParts(text[text.index(after: close)...])
            guard let words = quotes.first?.split(separator: " "), words.count >= 2 else {
                // Servers log `-`, or what it was, for a request that none could read.
                others += 1
                continue
            }
            guard ["GET", "HEAD", "OPTIONS"].contains(words[0]) else {
                others += 1
                continue
            }
            var draft = RequestDraft(method: String(words[0]), url: String(words[1]), place: place)
            for (name, value) in zip(["Referer", "User-Agent"], quotes.dropFirst()) where value != "-" && !value.isEmpty
            {
                draft.headers.append("\(name): \(value)")
            }
            input.drafts.append(draft)
            seconds.append(time)
        }
        if others > 0 {
            input.notes.append(
                "\(file): \(others) lines are no GET, HEAD or OPTIONS and were left out: a log has no bodies"
            )
        }
        Timestamp.setOffsets(&input.drafts, Timestamp.spread(seconds))
        return input
    }

    /// What stands between quotes; a backslash keeps the quote after it.
    private static func quotedParts(_ text: Substring) -> [String] {
        var parts: [String] = []
        var current: String?
        var isEscaped = false
        for character in text {
            if isEscaped {
                current?.append(character)
                isEscaped = false
            } else if character == "\\", current != nil {
                isEscaped = true
            } else if character == "\"" {
                if let part = current { parts.append(part) }
                current = current == nil ? "" : nil
            } else {
                current?.append(character)
            }
        }
        return parts
    }
}
