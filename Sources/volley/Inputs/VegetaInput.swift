import UncurlLoad
import UncurlLoadReports
import UncurlText

/// Reads vegeta's text format of targets:
/// ```
/// POST http://127.0.0.1:8080/things
/// Content-Type: application/json
/// @body.json
/// ```
/// A request ends at an empty line, at the next request line, or at the end of the file. `#` begins a comment. `# @name
/// NAME` names the request that follows or contains it.
enum VegetaInput {
    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        var draft: RequestDraft?
        var name: String?
        for (raw, place) in InputLines(bytes, file) {
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
                    draft?.body = try Files.read(String(text.dropFirst()).trimmed, for: "the body")
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
enum VegetaJSONInput {
    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        var input = RequestInput()
        // What the lines of fields may have in all. Each value of a list is a line with the name of the list.
        var room = 1 << 20 + 16 * bytes.count
        for (text, place) in InputLines(bytes, file) where !text.trimmed.isEmpty {
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
                guard let bytes = body.string.flatMap({ Base64.decode($0) }) else {
                    throw place.problem("the body is not in Base64")
                }
                draft.body = bytes
            }
            try input.add(draft)
        }
        return input
    }
}
