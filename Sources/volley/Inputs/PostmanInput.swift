import LoadGenerator
import TextCoding

/// Reads a Postman collection (v2.0, v2.1): the requests of its folders in order, named by folder and request.
enum PostmanInput {
    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        let tree = try InputDocument.read(bytes, file)
        guard tree["info"] != nil, tree["item"]?.elements != nil else {
            throw UsageError("\(quoted(file)) is no Postman collection: it has no info and item")
        }
        var reader = PostmanReader(file: file, variables(tree))
        try reader.read(tree["item"]?.items ?? [], folder: "")
        return reader.input
    }

    private static func variables(_ tree: JSONTree) -> [String: String] {
        var values: [String: String] = [:]
        for row in tree["variable"]?.items ?? [] {
            guard let name = row["key"]?.string ?? row["id"]?.string, let value = row["value"] else { continue }
            values[name] = value.string ?? value.line()
        }
        return values
    }
}

private struct PostmanReader {
    private let file: String
    private let variables: [String: String]
    private(set) var input = RequestInput()

    init(file: String, _ variables: [String: String]) { (self.file, self.variables) = (file, variables) }

    /// Reads folders by recursion. The JSON reader limits the nesting.
    mutating func read(_ items: [JSONTree], folder: String) throws(UsageError) {
        for item in items {
            let name = folder + (item["name"]?.string ?? "")
            if let inner = item["item"]?.elements {
                try read(inner, folder: name.isEmpty ? "" : name + "/")
                continue
            }
            let place = InputPlace(file: file, line: input.drafts.count + 1, unit: "request")
            guard let request = item["request"] else { throw place.problem("\(quoted(name)) has no request") }
            var draft = RequestDraft(url: "", place: place)
            draft.name = name.isEmpty ? nil : name
            // A URL by itself is a GET.
            let url = request.string ?? request["url"]?.string ?? request["url"]?["raw"]?.string
            draft.url = try filled(url ?? "", place)
            guard !draft.url.isEmpty else { throw place.problem("\(quoted(name)) has no URL") }
            if !draft.url.hasPrefix("/"), !draft.url.contains("://") { draft.url = "http://" + draft.url }
            draft.url = String(draft.url.prefix { $0 != "#" })
            draft.method = request["method"]?.string ?? "GET"
            for field in request["header"]?.items ?? [] where field["disabled"]?.bool != true {
                guard let key = field["key"]?.string, let value = field["value"]?.string else { continue }
                draft.headers.append("\(try filled(key, place)): \(try filled(value, place))")
            }
            try setContent(&draft, request["body"], place)
            try input.add(draft)
        }
    }

    private func setContent(_ draft: inout RequestDraft, _ body: JSONTree?, _ place: InputPlace) throws(UsageError) {
        guard let body, let mode = body["mode"]?.string, body["disabled"]?.bool != true else { return }
        switch mode {
        case "raw":
            guard let text = body["raw"]?.string, !text.isEmpty else { return }
            draft.body = Array(try filled(text, place).utf8)
            if body["options"]?["raw"]?["language"]?.string == "json" {
                draft.headers = draft.headers.adding(["Content-Type: application/json"])
            }
        case "urlencoded":
            var pairs: [String] = []
            for row in body["urlencoded"]?.items ?? [] where row["disabled"]?.bool != true {
                let pair = [row["key"]?.string ?? "", row["value"]?.string ?? ""]
                var parts: [String] = []
                for text in pair {
                    let bytes = TemplateValue.Escape.form.apply(to: Array(try filled(text, place).utf8))
                    parts.append(String(decoding: bytes, as: UTF8.self))
                }
                pairs.append(parts.joined(separator: "="))
            }
            draft.body = Array(pairs.joined(separator: "&").utf8)
            draft.headers = draft.headers.adding(["Content-Type: application/x-www-form-urlencoded"])
        case "graphql":
            guard let query = body["graphql"] else { return }
            draft.body = Array(try filled(query.line(), place).utf8)
            draft.headers = draft.headers.adding(["Content-Type: application/json"])
        case "none": return
        default: throw place.problem("its content is of the kind \(quoted(mode)), which is not in the collection")
        }
    }

    /// Replaces `{{name}}` by the collection's variables.
    private func filled(_ text: String, _ place: InputPlace) throws(UsageError) -> String {
        var out = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[open..<close].dropFirst(2)
            let end = rest.index(after: close)
            guard rest[open...].hasPrefix("{{"), end < rest.endIndex, rest[end] == "}" else {
                out += rest[...open]
                rest = rest[rest.index(after: open)...]
                continue
            }
            guard let value = variables[name.trimmed] else {
                throw place.problem(
                    "{{\(oneLine(String(name)))}} is no variable of the collection: add it to the collection's own"
                )
            }
            out += rest[..<open] + value
            rest = rest[rest.index(after: end)...]
        }
        return out + rest
    }
}
