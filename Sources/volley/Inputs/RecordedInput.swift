import UncurlHTTP1
import UncurlLoad
import UncurlLoadReports
import UncurlText

/// A web server's log in the common or combined format:
/// ```
/// 127.0.0.1 - - [10/Oct/2026:13:55:36 +0200] "GET /a?b HTTP/1.1" 200 2326 "http://x/" "Mozilla/5.0"
/// ```
/// A log has no bodies, so only GET, HEAD and OPTIONS are sent again: an empty POST would be another request. Referer
/// and User-Agent are sent as they were logged.
extension RequestInput {
    static func accessLog(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        var seconds: [Int64?] = []
        var others = 0
        var unreadable = 0
        for (text, place) in numberedLines(bytes, file) where !text.trimmed.isEmpty {
            guard let open = text.utf8.firstIndex(of: UInt8(ascii: "[")),
                let close = text.utf8[open...].firstIndex(of: UInt8(ascii: "]"))
            else {
                throw place.problem("no [time] in \(quoted(text))")
            }
            guard let time = logTime(text[text.utf8.index(after: open)..<close]) else {
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
            var url = RequestInput.encoded(Array(words[1]))
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
        input.setOffsets(spread(seconds))
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

/// Reads an HTTP Archive, as browsers export it: `log.entries`, each with its request and its start time.
extension RequestInput {
    /// Fields that volley sets itself, or that concern only the recorded connection (RFC 9110 §7.6.1).
    private static let dropped: Set<String> = [
        "content-length", "connection", "transfer-encoding", "keep-alive", "proxy-connection", "upgrade", "te",
        "expect", "proxy-authorization",
    ]

    static func har(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        func place(_ number: Int) -> InputPlace { InputPlace(file: file, line: number, unit: "entry") }
        let json = try JSONTree.read(bytes, file, loneSurrogates: true)
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
            let address = RequestInput.encoded(url.prefix(before: "#"), keepingPlaceholders: true)
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
            starts.append(entry["startedDateTime"]?.string.flatMap { iso8601($0) })
        }
        if others > 0 { input.notes.append("\(file): entries left out: \(others). They are not HTTP requests") }
        input.setOffsets(starts)
        return input
    }

    private static func body(_ request: JSONTree, _ place: InputPlace) throws(UsageError) -> [UInt8]? {
        guard let text = request["postData"]?["text"]?.string else { return try form(request, place) }
        guard request["postData"]?["encoding"]?.string?.isSame(as: "base64") == true else { return Array(text.utf8) }
        guard let bytes = base64Octets(text) else { throw place.problem("the body is not in Base64") }
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

/// Parses times as logs and archives write them, in nanoseconds since 1970.
extension RequestInput {
    /// More octets than a time has. The characters of a longer text may be long too, and take long to compare.
    private static let longest = 64

    /// `10/Oct/2026:13:55:36 +0200`.
    static func logTime(_ text: Substring) -> Int64? {
        guard text.utf8.count <= longest else { return nil }
        let halves = text.split(separator: " ")
        let parts = halves.first?.split(whereSeparator: { $0 == "/" || $0 == ":" }) ?? []
        guard halves.count == 2, parts.count == 6, let month = HTTPDate.months.firstIndex(of: String(parts[1])) else {
            return nil
        }
        let numbers = [parts[0], parts[2], parts[3], parts[4], parts[5]].compactMap { Int64($0) }
        guard numbers.count == 5, let zone = zone(halves[1]) else { return nil }
        return time(numbers[1], Int64(month) + 1, numbers[0], numbers[2], numbers[3], numbers[4], zone)
    }

    /// `2026-04-16T12:07:23.596Z`, `…+02:00`.
    static func iso8601(_ text: String) -> Int64? {
        guard text.utf8.count <= longest else { return nil }
        let halves = text.split(separator: "T")
        guard halves.count == 2 else { return nil }
        let date = halves[0].split(separator: "-").compactMap { Int64($0) }
        let clock = halves[1].prefix { $0.isNumber || $0 == ":" || $0 == "." }
        guard let zone = zone(halves[1].dropFirst(clock.count)) else { return nil }
        let parts = clock.split(separator: ":")
        guard date.count == 3, parts.count == 3, let hour = Int64(parts[0]), let minute = Int64(parts[1]) else {
            return nil
        }
        let pieces = parts[2].split(separator: ".")
        guard let whole = pieces.first.flatMap({ Int64($0) }), pieces.count <= 2 else { return nil }
        var fraction: Int64 = 0
        if pieces.count == 2 {
            let digits = pieces[1].prefix(9)
            guard let value = Int64(digits) else { return nil }
            fraction = (digits.count..<9).reduce(value) { value, _ in value * 10 }
        }
        return time(date[0], date[1], date[2], hour, minute, whole, zone).map { $0 + fraction }
    }

    /// The offset in seconds east of Greenwich: `Z`, `+0200`, `+02:00`.
    private static func zone(_ text: Substring) -> Int64? {
        if text == "Z" { return 0 }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard let sign = text.first, sign == "+" || sign == "-", digits.count == 4, let number = Int64(digits) else {
            return nil
        }
        return (number / 100 * 3_600 + number % 100 * 60) * (sign == "-" ? -1 : 1)
    }

    private static func time(
        _ year: Int64,
        _ month: Int64,
        _ day: Int64,
        _ hour: Int64,
        _ minute: Int64,
        _ seconds: Int64,
        _ zone: Int64
    ) -> Int64? {
        guard (1970...2200).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(seconds),
            let date = CivilDate(year: Int(year), month: Int(month), day: Int(day))
        else { return nil }
        return (date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + seconds - zone) * 1_000_000_000
    }

}

extension RequestInput {
    /// Spreads the requests of each second evenly over the second, because logs have whole seconds. Otherwise the start
    /// of each second would have a burst that never happened.
    fileprivate static func spread(_ times: [Int64?]) -> [Int64?] {
        var counts: [Int64: Int64] = [:]
        for case let time? in times { counts[time, default: 0] += 1 }
        var seen: [Int64: Int64] = [:]
        return times.map { time in
            guard let time, let count = counts[time] else { return nil }
            defer { seen[time, default: 0] += 1 }
            return time + 1_000_000_000 / count * (seen[time] ?? 0)
        }
    }

    /// Sorts drafts by their times, because logs are written when requests end, and sets their offsets from the first
    /// one. If one has no time, all lose their offsets.
    fileprivate mutating func setOffsets(_ times: [Int64?]) {
        let known = times.compactMap { $0 }
        guard known.count == drafts.count, let first = known.min() else { return }
        let order = drafts.indices.sorted { (known[$0], $0) < (known[$1], $1) }
        drafts = order.map { index in
            var draft = drafts[index]
            draft.offset = UInt64(known[index] - first)
            return draft
        }
    }
}
