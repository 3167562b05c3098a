import UncurlLoad
import UncurlText

/// Reads curl's command lines, as browsers and documents show them.
extension RequestInput {
    static func curl(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        var shell = ShellWords(bytes, file)
        while let (words, place) = try shell.next() {
            let command = String(decoding: words.first ?? [], as: UTF8.self)
            guard command.isSame(as: "curl") else { throw place.problem("\(quoted(command)) is not curl") }
            for draft in try CurlLine(Array(words.dropFirst()), place).drafts() { try input.add(draft) }
        }
        return input
    }
}

/// Reads the options of one command line that define the request. Options about curl's behavior are skipped. A content
/// may have any octets; all other words are UTF-8.
private struct CurlLine {
    private let place: InputPlace
    private var urls: [String] = []
    private var method: String?
    private var written: WrittenFields
    /// The fields of other options than `-H`, each name once.
    private var others: [(name: String, value: String)] = []
    /// The content. Nil without an option that has some.
    private var data: [UInt8]?
    private var isQuery = false
    private var isJSON = false
    /// Whether brackets and braces in URLs are no patterns.
    private var isLiteral = false

    /// The most bytes that the requests of one command may have of the fields and the query that its URLs share.
    private static let mostOctets = 32 << 20

    private static let (equals, at) = (UInt8(ascii: "="), UInt8(ascii: "@"))

    /// Options without effect on the requests of a load tester.
    private static let flags: Set<String> = [
        "-s", "--silent", "-S", "--show-error", "-k", "--insecure", "-L", "--location", "-v", "--verbose", "-i",
        "--include", "-f", "--fail", "--fail-with-body", "-N", "--no-buffer", "--http1.1", "--http2",
        "-#", "--progress-bar", "--path-as-is", "-4", "-6", "--ipv4", "--ipv6",
    ]
    private static let settings: Set<String> = [
        "-o", "--output", "-m", "--max-time", "--connect-timeout", "-w", "--write-out", "--retry", "-c", "--cookie-jar",
        "--max-redirs",
    ]

    init(_ words: [[UInt8]], _ place: InputPlace) throws(UsageError) {
        self.place = place
        written = try WrittenFields()
        var rest = words[...]
        // The options behind a flag in one word (`-sX`).
        var cluster: [UInt8]?
        while let word = cluster.take() ?? rest.popFirst() {
            var (option, value) = (word[...], [UInt8]?.none)
            if word.starts(with: "--".utf8), let sign = word.firstIndex(of: Self.equals), sign > 2 {
                (option, value) = (word[..<sign], Array(word[(sign + 1)...]))
            } else if word.starts(with: "-".utf8), !word.starts(with: "--".utf8), word.count > 2 {
                // A short option with its value (`-XPOST`), or flags before another option (`-sSXPOST`).
                (option, value) = (word.prefix(2), Array(word.dropFirst(2)))
            }
            let name = String(decoding: option, as: UTF8.self)
            guard option.first == UInt8(ascii: "-"), option.count > 1 else {
                urls.append(try text(of: word, "the URL"))
                continue
            }
            guard name.isASCII else { throw unknown(name) }
            if Self.flags.contains(name) || take(name) {
                if let value, !name.hasPrefix("--") { cluster = Array("-".utf8) + value }
                continue
            }
            guard let octets = value ?? rest.popFirst() else { throw place.problem("\(name) has no value") }
            if Self.settings.contains(name) { continue }
            if try !takeContent(name, octets) { try take(name, text(of: octets, name)) }
        }
        guard !urls.isEmpty else { throw place.problem("curl has no URL") }
    }

    private mutating func take(_ name: String) -> Bool {
        switch name {
        case "-G", "--get": isQuery = true
        case "-I", "--head": method = "HEAD"
        case "-g", "--globoff": isLiteral = true
        case "--compressed": set("Accept-Encoding", "deflate, gzip")
        default: return false
        }
        return true
    }

    private mutating func take(_ name: String, _ text: String) throws(UsageError) {
        switch name {
        case "--url": urls.append(text)
        case "-X", "--request": method = text
        case "-H", "--header":
            do throws(UsageError) {
                try written.add(text)
            } catch {
                throw place.problem("\(error)")
            }
        // Without a text, these leave out the field.
        case "-A" where text.isEmpty, "--user-agent" where text.isEmpty: try written.add("User-Agent:")
        case "-A", "--user-agent": set("User-Agent", text)
        case "-e" where text.isEmpty, "--referer" where text.isEmpty: try written.add("Referer:")
        case "-e", "--referer": set("Referer", text)
        // A file without a name: cookies of answers, which volley keeps as its own flags say.
        case "-b" where text.isEmpty, "--cookie" where text.isEmpty: break
        case "-b", "--cookie":
            guard text.utf8.contains(Self.equals) else {
                throw place.problem("\(name) \(quoted(text)) is a file: give the cookies")
            }
            if let index = others.firstIndex(where: { $0.name == "Cookie" }) {
                others[index].value += "; " + text
            } else {
                set("Cookie", text)
            }
        case "-u", "--user": set("Authorization", "Basic \(base64Text(Array(text.utf8)))")
        default:
            throw unknown(name)
        }
    }

    private func unknown(_ name: String) -> UsageError {
        place.problem("\(name) is not understood here: leave it out, or write the request in another form")
    }

    /// Reads an option of the content. Returns false for another option.
    private mutating func takeContent(_ name: String, _ octets: [UInt8]) throws(UsageError) -> Bool {
        switch name {
        case "-d", "--data", "--data-ascii":
            let bytes = try bytes(octets, name)
            // curl removes the line ends of a file.
            add(octets.first == Self.at ? bytes.filter { ![0, 10, 13].contains($0) } : bytes)
        case "--data-binary": add(try bytes(octets, name))
        case "--data-raw": add(octets)
        case "--json":
            try append(bytes(octets, name), after: [])
            isJSON = true
        case "--data-urlencode": add(try escaped(octets, name))
        default: return false
        }
        return true
    }

    private func text(of octets: some Sequence<UInt8>, _ owner: String) throws(UsageError) -> String {
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw place.problem("\(owner) has octets that are no UTF-8, which only a content may have")
        }
        return text
    }

    private mutating func set(_ name: String, _ value: String) {
        others.removeAll { $0.name == name }
        others.append((name, value))
    }

    /// The bytes of an option's value, or of the file that it names.
    private func bytes(_ octets: [UInt8], _ name: String) throws(UsageError) -> [UInt8] {
        guard octets.first == Self.at else { return octets }
        return try readFile(try text(of: octets.dropFirst(), name), for: name)
    }

    /// The bytes of an option's value in one of curl's forms: `content`, `=content`, `name=content`, `@file` and
    /// `name@file`. The content is escaped, the name is not.
    private func escaped(_ octets: [UInt8], _ option: String) throws(UsageError) -> [UInt8] {
        let form = TemplateValue.Escape.form
        guard let sign = octets.firstIndex(of: Self.equals) ?? octets.firstIndex(of: Self.at) else {
            return form.apply(to: octets)
        }
        let (name, rest) = (octets[..<sign], Array(octets[(sign + 1)...]))
        let content = octets[sign] == Self.at ? try readFile(try text(of: rest, option), for: option) : rest
        return name + (name.isEmpty ? [] : [Self.equals]) + form.apply(to: content)
    }

    private mutating func add(_ bytes: [UInt8]) { append(bytes, after: [UInt8(ascii: "&")]) }

    private mutating func append(_ bytes: [UInt8], after separator: [UInt8]) {
        if data == nil { data = bytes } else { data?.append(contentsOf: separator + bytes) }
    }

    /// The URL without the backslashes that mark brackets and braces as no patterns. A pattern is an error, but not the
    /// place of a template.
    private func literal(_ url: String) throws(UsageError) -> String {
        guard !isLiteral, url.utf8.contains(where: Self.isOfPattern) else { return url }
        let bytes = Array(url.utf8)
        let start = RequestInput.pathStart(bytes)
        let (backslash, bracket, brace) = (UInt8(ascii: "\\"), UInt8(ascii: "["), UInt8(ascii: "{"))
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            if Self.isOfPattern(byte), out.last == backslash {
                out.removeLast()
            } else if index >= start, byte == bracket || byte == brace {
                let isTemplate =
                    byte == brace && (bytes[..<index].last == brace || bytes[index...].dropFirst().first == brace)
                guard isTemplate else {
                    throw place.problem("\(quoted(url)) is a pattern to curl: write \\[ and \\{, or add -g")
                }
            }
            out.append(byte)
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func isOfPattern(_ octet: UInt8) -> Bool {
        switch Unicode.Scalar(octet) {
        case "[", "]", "{", "}": true
        default: false
        }
    }

    func drafts() throws(UsageError) -> [RequestDraft] {
        let fields =
            isJSON
            ? ["Content-Type: application/json", "Accept: application/json"]
            : data == nil || isQuery ? [] : ["Content-Type: application/x-www-form-urlencoded"]
        // All URLs of a command share them.
        let headers = written.adding(others.map { "\($0.name): \($0.value)" } + fields)
        let query = isQuery ? data.map { RequestInput.encoded(query: $0) } : nil
        let shared = headers.reduce(query?.utf8.count ?? 0) { $0 + $1.utf8.count + 2 }
        guard urls.count * shared <= Self.mostOctets else {
            throw place.problem("\(urls.count) URLs share \(shared) bytes of fields and query: use fewer URLs")
        }
        var drafts: [RequestDraft] = []
        for url in urls {
            let address = String(url.prefix(before: "#"))
            guard !address.isEmpty else { throw place.problem("\(quoted(url)) is no URL but a fragment") }
            let url = try literal(RequestInput.isComplete(address) ? address : "http://" + address)
            var draft = RequestDraft(url: url, headers: headers, place: place)
            draft.leftOut = written.names
            draft.url = RequestInput.encoded(url, keepingPlaceholders: true)
            if let query {
                draft.url += (url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query
            } else {
                draft.body = data
            }
            draft.method = method ?? (draft.body == nil ? "GET" : "POST")
            drafts.append(draft)
        }
        return drafts
    }
}

/// Splits command lines as a POSIX shell does: words, quotes, backslashes, `$'…'` and comments. Words are octets. Texts
/// that a shell would expand are errors.
struct ShellWords {
    private static let (feed, backslash, apostrophe) = (UInt8(ascii: "\n"), UInt8(ascii: "\\"), UInt8(ascii: "'"))

    private let bytes: [UInt8]
    private let file: String
    private var position = 0
    private var line = 1

    init(_ bytes: [UInt8], _ file: String) { (self.bytes, self.file) = (bytes, file) }

    private func place(_ line: Int) -> InputPlace { InputPlace(file: file, line: line) }

    private func problem(_ text: String) -> UsageError { place(line).problem(text) }

    mutating func next() throws(UsageError) -> (words: [[UInt8]], place: InputPlace)? {
        var words: [[UInt8]] = []
        var start = line
        while let byte = peek {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): position += 1
            case _ where isNewline(position), UInt8(ascii: ";"):
                advance()
                if !words.isEmpty { return (words, place(start)) }
            case UInt8(ascii: "#") where words.isEmpty || isBehindBlank:
                while peek != nil, !isNewline(position) { position += 1 }
            case Self.backslash where isNewline(position + 1):
                position += 1
                advance()
            default:
                if words.isEmpty { start = line }
                words.append(try word())
            }
        }
        return words.isEmpty ? nil : (words, place(start))
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }
    private var isBehindBlank: Bool { position > 0 && " \t\n".utf8.contains(bytes[position - 1]) }

    /// Whether a shell ends a word here. A single carriage return, or another space of Unicode, is part of a word.
    private var isAtBlank: Bool { peek == UInt8(ascii: " ") || peek == UInt8(ascii: "\t") || isNewline(position) }

    /// Whether a line ends here, with a line feed, or a carriage return before one.
    private func isNewline(_ index: Int) -> Bool {
        guard index < bytes.count else { return false }
        return bytes[index] == Self.feed || bytes[index...].starts(with: "\r\n".utf8)
    }

    /// Skips an octet, or a line's end.
    private mutating func advance() {
        if isNewline(position) {
            line += 1
            if bytes[position] != Self.feed { position += 1 }
        }
        position += 1
    }

    private mutating func word() throws(UsageError) -> [UInt8] {
        var word: [UInt8] = []
        while let byte = peek, !isAtBlank, byte != UInt8(ascii: ";") {
            switch byte {
            case Self.apostrophe: word += try quoted()
            case UInt8(ascii: "\""): word += try quoted { $0.escapedInQuotes() }
            case UInt8(ascii: "$") where bytes[(position + 1)...].first == Self.apostrophe:
                position += 1
                word += try quoted { (shell: inout ShellWords) throws(UsageError) in try shell.escapedBehindDollar() }
            case _ where Self.isSpecial(byte):
                let character = Unicode.Scalar(byte)
                throw problem("\(character) means something to a shell: put it in single quotes")
            case Self.backslash:
                position += 1
                guard let next = peek else { throw problem("nothing follows a backslash") }
                if !isNewline(position) { word.append(next) }
                advance()
            default:
                word.append(byte)
                position += 1
            }
        }
        return word
    }

    private static func isSpecial(_ octet: UInt8) -> Bool {
        switch Unicode.Scalar(octet) {
        case "$", "`", "|", "&", "<", ">", "(", ")": true
        default: false
        }
    }

    /// - Parameter escaped: reads what follows a backslash. Without it, a backslash has no meaning.
    private mutating func quoted(
        _ escaped: ((inout ShellWords) throws(UsageError) -> [UInt8])? = nil
    ) throws(UsageError) -> [UInt8] {
        let (begin, quote) = (line, peek)
        var text: [UInt8] = []
        position += 1
        while let byte = peek {
            position += 1
            if byte == quote { return text }
            if byte == Self.backslash, let escaped, peek != nil {
                text += try escaped(&self)
            } else {
                if byte == Self.feed { line += 1 }
                text.append(byte)
            }
        }
        throw place(begin).problem("a quote is not closed")
    }

    private mutating func escapedInQuotes() -> [UInt8] {
        if isNewline(position) {
            advance()
            return []
        }
        guard let byte = peek, "\"\\$`".utf8.contains(byte) else { return [Self.backslash] }
        position += 1
        return [byte]
    }

    /// What single characters stand for behind a backslash in `$'…'`.
    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "e"): 0x1B, UInt8(ascii: "E"): 0x1B,
        UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 9,
        UInt8(ascii: "v"): 0x0B, backslash: backslash, apostrophe: apostrophe, UInt8(ascii: "\""): UInt8(ascii: "\""),
        UInt8(ascii: "?"): UInt8(ascii: "?"),
    ]

    private mutating func escapedBehindDollar() throws(UsageError) -> [UInt8] {
        guard let byte = peek else { return [Self.backslash] }
        if let made = Self.escapes[byte] {
            position += 1
            return [made]
        }
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            return [UInt8(truncatingIfNeeded: number(3, radix: 8) ?? 0)]
        case UInt8(ascii: "x"):
            position += 1
            guard let octet = number(2, radix: 16) else { throw noDigits }
            return [UInt8(truncatingIfNeeded: octet)]
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            position += 1
            return try scalar(byte == UInt8(ascii: "u") ? 4 : 8)
        default: return [Self.backslash]
        }
    }

    /// Takes digits, at most so many; nil without any.
    private mutating func number(_ most: Int, radix: UInt32) -> UInt32? {
        var value: UInt32?
        for _ in 0..<most {
            guard let digit = peek.flatMap({ hexValue(of: $0) }), digit < radix else { break }
            value = (value ?? 0) * radix + UInt32(digit)
            position += 1
        }
        return value
    }

    private var noDigits: UsageError { problem("\\u and \\x need hexadecimal digits") }

    /// Reads the digits of a character. Browsers write one beyond U+FFFF as two surrogates.
    private mutating func scalar(_ most: Int) throws(UsageError) -> [UInt8] {
        guard var value = number(most, radix: 16) else { throw noDigits }
        if (0xD800..<0xDC00).contains(value), bytes[position...].starts(with: #"\u"#.utf8) {
            position += 2
            guard let low = number(4, radix: 16), (0xDC00..<0xE000).contains(low) else { throw noDigits }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw noDigits }
        return Array(String(scalar).utf8)
    }
}
