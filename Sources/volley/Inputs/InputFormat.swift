import UncurlLoad
import UncurlLoadReports
import UncurlText

/// The format of a file of requests: `--input FORMAT=FILE`.
enum InputFormat: String, Hashable, Sendable, CaseIterable {
    /// A URL or path per line. A method may precede it; a weight and a name may follow it.
    case urls
    /// vegeta's text format: a request line, header lines, `@FILE` for the body.
    case vegeta
    /// vegeta's JSON format, one object per line.
    case vegetaJSON = "vegeta-json"
    /// An HTTP Archive (1.2), which browsers export.
    case har
    /// The common and combined logs of Apache and nginx.
    case accessLog = "access-log"
    /// curl's command lines.
    case curl
    case postman

    /// Reads the requests of the files that `--input` names, in order.
    static func read(_ arguments: [String]) throws(UsageError) -> RequestInput {
        var all = RequestInput()
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let format = InputFormat(rawValue: parts[0]), parts.count == 2, !parts[1].isEmpty else {
                let names = allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--input \(quoted(argument)) is not FORMAT=FILE, with a format of \(names)")
            }
            var bytes = try readFile(parts[1], for: "--input")
            // Some exporters write a byte order mark.
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
            let input = try format.parse(bytes, file: parts[1])
            guard !input.drafts.isEmpty else { throw UsageError("\(quoted(parts[1])) has no request in it") }
            all.drafts += input.drafts.map { draft in
                var draft = draft
                draft.written = draft.url
                return draft
            }
            all.notes += input.notes
            guard all.drafts.count <= RequestInput.limit else {
                throw UsageError("--input: more than \(RequestInput.limit) requests: use a part of them")
            }
        }
        return all
    }

    func parse(_ bytes: [UInt8], file: String) throws(UsageError) -> RequestInput {
        switch self {
        case .urls: try .urls(bytes, file)
        case .vegeta: try .vegeta(bytes, file)
        case .vegetaJSON: try .vegetaJSON(bytes, file)
        case .har: try .har(bytes, file)
        case .accessLog: try .accessLog(bytes, file)
        case .curl: try .curl(bytes, file)
        case .postman: try .postman(bytes, file)
        }
    }
}

/// The numbered lines of a file. CR LF ends a line too.
func numberedLines(_ bytes: [UInt8], _ file: String) -> some Sequence<(text: String, place: InputPlace)> {
    sequence(state: (position: 0, number: 0)) { state in
        guard state.position < bytes.count else { return nil }
        let end = bytes[state.position...].firstIndex(of: 10) ?? bytes.count
        let line = bytes[state.position..<end]
        state = (end + 1, state.number + 1)
        let text = String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
        return (text, InputPlace(file: file, line: state.number))
    }
}

/// Reads `[METHOD] URL [xWEIGHT] [name=NAME]`, one request per line. Empty lines and lines that begin with `#` are
/// skipped.
extension RequestInput {
    static func urls(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        for (text, place) in numberedLines(bytes, file) {
            var words = text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.map { Substring($0) }
            guard let first = words.first, !first.begins(with: "#") else { continue }
            var draft = RequestDraft(url: "", place: place)
            if words.count > 1, let last = words.last, last.begins(with: "name="), last.utf8.count > 5 {
                draft.name = String(Substring(last.utf8.dropFirst(5)))
                words.removeLast()
            }
            if words.count > 1, let last = words.last, last.begins(with: "x"),
                let weight = UInt64(Substring(last.utf8.dropFirst()))
            {
                guard (1...1_000_000).contains(weight) else { throw place.problem("a weight is x1 to x1000000") }
                draft.weight = weight
                words.removeLast()
            }
            switch words.count {
            case 1: draft.url = String(words[0])
            case 2: (draft.method, draft.url) = (String(words[0]), String(words[1]))
            default: throw place.problem("\(quoted(text)) is not [METHOD] URL [xWEIGHT] [name=NAME]")
            }
            try input.add(draft)
        }
        return input
    }
}

/// Reads vegeta's text format of targets:
/// ```
/// POST http://127.0.0.1:8080/things
/// Content-Type: application/json
/// @body.json
/// ```
/// A request ends at an empty line, at the next request line, or at the end of the file. `#` begins a comment. `# @name
/// NAME` names the request that follows or contains it.
extension RequestInput {
    static func vegeta(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        var draft: RequestDraft?
        var name: String?
        for (raw, place) in numberedLines(bytes, file) {
            let text = raw.trimmed
            if text.begins(with: "#") {
                let words = Substring(text.utf8.dropFirst()).parts(at: " ", most: 2, keepingEmpty: false)
                guard words.count == 2, words[0].isSame(as: "@name") else { continue }
                if draft == nil { name = words[1].trimmed } else { draft?.name = words[1].trimmed }
                continue
            }
            if text.isEmpty || isRequestLine(text) {
                if let draft { try input.add(draft) }
                draft = nil
                if text.isEmpty { continue }
                let words = text.parts(at: " ", most: 2, keepingEmpty: false)
                draft = RequestDraft(method: String(words[0]), url: words[1].trimmed, place: place, name: name)
                name = nil
            } else if draft == nil {
                throw place.problem("\(quoted(text)) is no request line: write METHOD URL")
            } else if text.begins(with: "@") {
                guard draft?.body == nil else { throw place.problem("a request has one body") }
                do throws(UsageError) {
                    draft?.body = try readFile(String(text.dropFirst()).trimmed, for: "the body")
                } catch {
                    throw place.problem(error.description)
                }
            } else {
                guard text.utf8.contains(UInt8(ascii: ":")) else {
                    throw place.problem("\(quoted(text)) has no colon: write Name: value")
                }
                draft?.headers.append(text)
            }
        }
        if let draft { try input.add(draft) }
        return input
    }

    /// Whether the line is a word of capital letters, a space and a text. The name of a header line ends with a colon.
    private static func isRequestLine(_ text: String) -> Bool {
        let words = text.parts(at: " ", most: 2, keepingEmpty: false)
        guard words.count == 2 else { return false }
        return words[0].utf8.allSatisfy { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
    }
}

/// Reads vegeta's JSON format: one object per line with `method` and `url`, and optionally `header` (names with lists
/// of values), `body` in Base64, and `name`.
extension RequestInput {
    static func vegetaJSON(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        // What the lines of fields may have in all. Each value of a list is a line with the name of the list.
        var room = 1 << 20 + 16 * bytes.count
        for (text, place) in numberedLines(bytes, file) where !text.trimmed.isEmpty {
            let json: JSONTree
            do throws(JSONReader.Problem) {
                json = try JSONReader.read(Array(text.utf8))
            } catch {
                throw place.problem("this is no JSON object: at byte \(error.offset) \(error)")
            }
            guard let method = json["method"]?.string, let url = json["url"]?.string else {
                throw place.problem("a target needs the strings method and url")
            }
            var draft = RequestDraft(method: method, url: url, place: place)
            draft.name = json["name"]?.string
            for (name, values) in json["header"]?.members ?? [] {
                for value in values.elements ?? [values] {
                    guard let value = value.string else { throw place.problem("the header \(quoted(name)) is no text") }
                    room -= name.utf8.count + value.utf8.count
                    guard room >= 0 else {
                        throw place.problem(
                            "the header \(quoted(name)) is too long for so many values: use a part of them"
                        )
                    }
                    draft.headers.append("\(name): \(value)")
                }
            }
            if let body = json.members?.first(where: { $0.0 == "body" })?.1 {
                guard let bytes = body.string.flatMap({ base64Octets($0) }) else {
                    throw place.problem("the body is not in Base64")
                }
                draft.body = bytes
            }
            try input.add(draft)
        }
        return input
    }
}

/// Reads `--raw [NAME=]FILE`. The octets of each file are sent unchanged as one request, for tests of parsers.
extension RequestInput {
    static func raw(_ arguments: [String]) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            // A text before `=` is a name, unless it has a slash and is thus part of a path.
            let isNamed = parts.count == 2 && !parts[0].isEmpty && !parts[0].contains("/")
            let path = isNamed ? parts[1] : argument
            let bytes = try readFile(path, for: "--raw")
            guard !bytes.isEmpty else { throw UsageError("--raw \(quoted(path)) is empty: a request has octets") }
            var draft = RequestDraft(url: "/", place: InputPlace(file: path, line: 1))
            draft.verbatim = bytes
            draft.name = isNamed ? parts[0] : path.split(separator: "/").last.map(String.init)
            guard !input.drafts.contains(where: { $0.name == draft.name }) else {
                throw UsageError("--raw has two files of the name \(quoted(draft.name ?? "")): write NAME=FILE")
            }
            try input.add(draft)
        }
        return input
    }
}

/// Reads cookies in Netscape's format, as curl and browsers write it: one cookie per line, in seven fields separated by
/// tabs.
extension RequestInput {
    /// The largest file of cookies, in bytes. A larger file is something else.
    private static var cookieLimit: Int { 1 << 20 }

    static func cookies(_ path: String) throws(UsageError) -> [GivenCookie] {
        var cookies: [GivenCookie] = []
        for (text, place) in numberedLines(try readFile(path, for: "--cookie", limit: cookieLimit), path) {
            // curl marks cookies with this prefix that scripts must not read.
            let line = text.begins(with: "#HttpOnly_") ? String(Substring(text.utf8.dropFirst(10))) : text
            guard !line.begins(with: "#"), !line.trimmed.isEmpty else { continue }
            cookies.append(try cookie(line, place))
        }
        try need(!cookies.isEmpty, "--cookie \(quoted(path)) has no cookie in it: write NAME=VALUE")
        return cookies
    }

    private static func isTrue(_ word: String) -> Bool { word.isASCII && word.uppercased() == "TRUE" }

    /// Reads a line's fields: domain, whether subdomains count, path, whether only https counts, expiry in seconds
    /// since 1970, name, value.
    private static func cookie(_ line: String, _ place: InputPlace) throws(UsageError) -> GivenCookie {
        let parts = line.parts(at: "\t").map(String.init)
        guard parts.count == 7, let expires = UInt64(parts[4]), parts[2].begins(with: "/"), !parts[0].isEmpty else {
            throw place.problem(
                "\(quoted(line)) is not a cookie in Netscape's format: use seven fields with tabs between"
            )
        }
        let domain = String(Substring(parts[0].utf8.drop { $0 == UInt8(ascii: ".") })).lowercased()
        let isForNames = isTrue(parts[1])
        var words = "\(parts[5])=\(parts[6]); Path=\(parts[2])"
        if isForNames { words += "; Domain=\(domain)" }
        if isTrue(parts[3]) { words += "; Secure" }
        return (words, domain, expires == 0 ? nil : Double(expires))
    }
}

extension InputPlace {
    func problem(_ text: String) -> UsageError { UsageError("\(inMessages): \(text)") }
}

extension RequestInput {
    /// Adds a request. Too many requests are refused while the file is read, because requests of two bytes each take a
    /// hundred times as much memory as the file.
    mutating func add(_ draft: RequestDraft) throws(UsageError) {
        guard drafts.count < limit else {
            throw draft.place.problem("more than \(limit) requests: use a part of the file")
        }
        drafts.append(draft)
    }
}
