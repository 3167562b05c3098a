import LoadGenerator
import TextCoding

/// Reads curl's command lines, as browsers and documents show them.
enum CurlInput {
    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        var shell = ShellWords(String(decoding: bytes, as: UTF8.self))
        while let (words, line) = try next(&shell, file) {
            let place = InputPlace(file: file, line: line)
            guard words.first == "curl" else { throw place.problem("\(quoted(words.first ?? "")) is not curl") }
            for draft in try CurlLine(Array(words.dropFirst()), place).drafts() { try input.add(draft) }
        }
        return input
    }

    private static func next(
        _ shell: inout ShellWords,
        _ file: String
    ) throws(UsageError) -> (words: [String], line: Int)? {
        do throws(ShellWords.Problem) {
            return try shell.next()
        } catch {
            throw InputPlace(file: file, line: error.line).problem(error.text)
        }
    }
}

/// Reads the options of one command line that define the request. Options about curl's behavior are skipped.
private struct CurlLine {
    private let place: InputPlace
    private var urls: [String] = []
    private var method: String?
    private var headers: [String] = []
    private var data: [UInt8]?
    private var isQuery = false

    /// Options without effect on the requests of a load tester.
    private static let flags: Set<String> = [
        "-s", "--silent", "-S", "--show-error", "-k", "--insecure", "-L", "--location", "-v", "--verbose", "-i",
        "--include", "-f", "--fail", "--fail-with-body", "-g", "--globoff", "-N", "--no-buffer", "--http1.1", "--http2",
        "-#", "--progress-bar", "--path-as-is", "-4", "-6", "--ipv4", "--ipv6",
    ]
    /// Short options without a value that count here.
    private static let ownFlags: Set<String> = ["-G", "-I"]
    private static let settings: Set<String> = [
        "-o", "--output", "-m", "--max-time", "--connect-timeout", "-w", "--write-out", "--retry", "-c", "--cookie-jar",
        "--max-redirs",
    ]

    init(_ words: [String], _ place: InputPlace) throws(UsageError) {
        self.place = place
        var rest = words[...]
        while let word = rest.popFirst() {
            var (name, value) = (word, String?.none)
            if word.hasPrefix("--"), let sign = word.firstIndex(of: "="), word.dropFirst(2).first != "=" {
                (name, value) = (String(word[..<sign]), String(word[word.index(after: sign)...]))
            } else if word.hasPrefix("-"), !word.hasPrefix("--"), word.count > 2 {
                // A short option with its value (`-XPOST`), or several flags (`-sS`).
                let first = String(word.prefix(2))
                if Self.flags.contains(first) || Self.ownFlags.contains(first) {
                    rest = [first, "-" + word.dropFirst(2)] + rest
                    continue
                } else {
                    value = String(word.dropFirst(2))
                }
                name = first
            }
            guard name.hasPrefix("-"), name != "-" else {
                urls.append(word)
                continue
            }
            if Self.flags.contains(name) { continue }
            if try take(name) { continue }
            guard let text = value ?? rest.popFirst() else { throw place.problem("\(name) has no value") }
            if !Self.settings.contains(name) { try take(name, text) }
        }
        guard !urls.isEmpty else { throw place.problem("curl has no URL") }
    }

    /// Reads an option without a value.
    private mutating func take(_ name: String) throws(UsageError) -> Bool {
        switch name {
        case "-G", "--get": isQuery = true
        case "-I", "--head": method = "HEAD"
        case "--compressed": headers = headers.adding(["Accept-Encoding: deflate, gzip"])
        default: return false
        }
        return true
    }

    private mutating func take(_ name: String, _ text: String) throws(UsageError) {
        switch name {
        case "--url": urls.append(text)
        case "-X", "--request": method = text
        case "-H", "--header":
            // In curl, a name without a value removes curl's own field.
            if text.hasSuffix(":") { return }
            headers.append(text)
        case "-A", "--user-agent": headers.append("User-Agent: \(text)")
        case "-e", "--referer": headers.append("Referer: \(text)")
        case "-b", "--cookie":
            guard text.contains("=") else { throw place.problem("\(name) \(quoted(text)) is a file: give the cookies") }
            headers.append("Cookie: \(text)")
        case "-u", "--user": headers.append("Authorization: Basic \(Base64.encode(Array(text.utf8)))")
        case "-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--json":
            var part = Array(text.utf8)
            if name != "--data-raw", text.hasPrefix("@") {
                part = try Files.read(String(text.dropFirst()), for: name)
                if name != "--data-binary", name != "--json" { part.removeAll { [0, 10, 13].contains($0) } }
            }
            add(part, after: name == "--json" ? "" : "&")
            guard name == "--json" else { break }
            headers = headers.adding(["Content-Type: application/json", "Accept: application/json"])
        case "--data-urlencode":
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let value = TemplateValue.Escape.form.apply(to: Array(parts[parts.count - 1].utf8))
            let name = parts.count == 2 && !parts[0].isEmpty ? parts[0] + "=" : ""
            add(Array(name.utf8) + value, after: "&")
        default:
            throw place.problem("\(name) is not understood here: leave it out, or write the request in another form")
        }
    }

    private mutating func add(_ part: [UInt8], after separator: String) {
        data = data.map { $0 + separator.utf8 + part } ?? part
    }

    func drafts() throws(UsageError) -> [RequestDraft] {
        var drafts: [RequestDraft] = []
        for url in urls {
            var url = url.hasPrefix("/") || url.contains("://") ? url : "http://" + url
            url = String(url.prefix { $0 != "#" })
            var draft = RequestDraft(url: url, headers: headers, place: place)
            if let data, isQuery {
                draft.url += (url.contains("?") ? "&" : "?") + String(decoding: data, as: UTF8.self)
            } else if let data {
                draft.body = data
                draft.headers = headers.adding(["Content-Type: application/x-www-form-urlencoded"])
            }
            draft.method = method ?? (draft.body == nil ? "GET" : "POST")
            drafts.append(draft)
        }
        return drafts
    }
}
