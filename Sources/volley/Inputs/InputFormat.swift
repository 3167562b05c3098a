import UncurlLoad

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
    /// A Postman collection.
    case postman
    /// An OpenAPI description: a request for each operation.
    case openAPI = "openapi"

    /// Reads the requests of the files that `--input` names, in order.
    static func read(_ arguments: [String]) throws(UsageError) -> RequestInput {
        var all = RequestInput()
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let format = InputFormat(rawValue: parts[0]), parts.count == 2, !parts[1].isEmpty else {
                let names = allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--input \(quoted(argument)) is not FORMAT=FILE, with a format of \(names)")
            }
            var bytes = try Files.read(parts[1], for: "--input")
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
        case .urls: try URLListInput.parse(bytes, file)
        case .vegeta: try VegetaInput.parse(bytes, file)
        case .vegetaJSON: try VegetaJSONInput.parse(bytes, file)
        case .har: try HARInput.parse(bytes, file)
        case .accessLog: try AccessLogInput.parse(bytes, file)
        case .curl: try CurlInput.parse(bytes, file)
        case .postman: try PostmanInput.parse(bytes, file)
        case .openAPI: try OpenAPIInput.parse(bytes, file)
        }
    }
}

/// The numbered lines of a file. CR LF ends a line too.
struct InputLines: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private let file: String
    private var position = 0
    private var number = 0

    init(_ bytes: [UInt8], _ file: String) { (self.bytes, self.file) = (bytes, file) }

    mutating func next() -> (text: String, place: InputPlace)? {
        guard position < bytes.count else { return nil }
        let end = bytes[position...].firstIndex(of: 10) ?? bytes.count
        var line = bytes[position..<end]
        if line.last == 13 { line.removeLast() }
        position = end + 1
        number += 1
        return (String(decoding: line, as: UTF8.self), InputPlace(file: file, line: number))
    }
}

/// Reads `[METHOD] URL [xWEIGHT] [name=NAME]`, one request per line. Empty lines and lines that begin with `#` are
/// skipped.
enum URLListInput {
    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        for (text, place) in InputLines(bytes, file) {
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
