import UncurlLoad

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
