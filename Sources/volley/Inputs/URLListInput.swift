import LoadGenerator

/// Reads `[METHOD] URL [xWEIGHT] [name=NAME]`, one request per line. Empty lines and lines that begin with `#` are
/// skipped.
enum URLListInput {
    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        for (text, place) in InputLines(bytes, file) {
            var words = text.split { $0 == " " || $0 == "\t" }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            var draft = RequestDraft(url: "", place: place)
            if words.count > 1, let last = words.last, last.hasPrefix("name="), last.count > 5 {
                draft.name = String(last.dropFirst(5))
                words.removeLast()
            }
            if words.count > 1, let last = words.last, last.hasPrefix("x"), let weight = UInt64(last.dropFirst()) {
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
