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
        try reader.read(tree["item"]?.items ?? [], folder: "", authorization: tree["auth"])
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
    /// The media types that Postman sends for the languages of a raw content.
    private static let types = [
        "text": "text/plain", "json": "application/json", "xml": "application/xml", "html": "text/html",
        "javascript": "application/javascript",
    ]
    private(set) var input = RequestInput()

    init(file: String, _ variables: [String: String]) { (self.file, self.variables) = (file, variables) }

    /// Reads folders by recursion. The JSON reader limits the nesting.
    ///
    /// - Parameter authorization: the folder's, for requests without their own.
    mutating func read(_ items: [JSONTree], folder: String, authorization: JSONTree?) throws(UsageError) {
        for item in items {
            let name = folder + (item["name"]?.string ?? "")
            if let inner = item["item"]?.elements {
                let own = item["auth"]?.members == nil ? authorization : item["auth"]
                try read(inner, folder: name.isEmpty ? "" : name + "/", authorization: own)
                continue
            }
            let place = InputPlace(file: file, line: input.drafts.count + 1, unit: "request")
            guard let request = item["request"] else { throw place.problem("\(quoted(name)) has no request") }
            var draft = RequestDraft(url: "", place: place)
            draft.name = name.isEmpty ? nil : name
            // A URL by itself is a GET.
            let url = request.string ?? request["url"]?.string ?? request["url"]?["raw"]?.string
            let whole = try filled(try withPathVariables(url ?? "", request["url"]?["variable"], place), place)
            draft.url = String(whole.prefix { $0 != "#" })
            guard !draft.url.isEmpty else { throw place.problem("\(quoted(name)) has no URL") }
            if !draft.url.hasPrefix("/"), !draft.url.contains("://") { draft.url = "http://" + draft.url }
            draft.url = WrittenURL.encoded(draft.url)
            draft.method = request["method"]?.string ?? "GET"
            for field in request["header"]?.items ?? [] where field["disabled"]?.bool != true {
                guard let key = field["key"]?.string, let value = field["value"]?.string else { continue }
                draft.headers.append("\(try filled(key, place)): \(try filled(value, place))")
            }
            try authorize(&draft, request["auth"]?.members == nil ? authorization : request["auth"], place)
            try setContent(&draft, request["body"], place)
            try input.add(draft)
        }
    }

    /// Replaces segments such as `:id` by the request's own values.
    private func withPathVariables(
        _ url: String,
        _ rows: JSONTree?,
        _ place: InputPlace
    ) throws(UsageError) -> String {
        var segments = url.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        for row in rows?.items ?? [] {
            guard let name = row["key"]?.string ?? row["id"]?.string, let value = row["value"]?.string else { continue }
            let filled = Self.escaped(try filled(value, place))
            for index in segments.indices where segments[index] == ":\(name)" { segments[index] = filled }
        }
        return segments.joined(separator: "/") + url.drop { $0 != "?" }
    }

    /// Adds the field, or the part of the query, that Postman makes of a request's authorization.
    private func authorize(_ draft: inout RequestDraft, _ node: JSONTree?, _ place: InputPlace) throws(UsageError) {
        guard let kind = node?["type"]?.string, kind != "noauth" else { return }
        func value(_ name: String) throws(UsageError) -> String {
            let rows = node?[kind]
            // v2.0 has an object in the place of the rows.
            let found = rows?.elements?.first { $0["key"]?.string == name }?["value"] ?? rows?[name]
            return try filled(found?.string ?? "", place)
        }
        switch kind {
        case "bearer": draft.headers = draft.headers.adding(["Authorization: Bearer \(try value("token"))"])
        case "oauth2" where try !value("accessToken").isEmpty:
            draft.headers = draft.headers.adding(["Authorization: Bearer \(try value("accessToken"))"])
        case "basic":
            let pair = "\(try value("username")):\(try value("password"))"
            draft.headers = draft.headers.adding(["Authorization: Basic \(Base64.encode(Array(pair.utf8)))"])
        case "apikey" where try value("in") == "query":
            let pair = "\(Self.escaped(try value("key")))=\(Self.escaped(try value("value")))"
            draft.url += (draft.url.contains("?") ? "&" : "?") + pair
        case "apikey": draft.headers = draft.headers.adding(["\(try value("key")): \(try value("value"))"])
        default:
            throw place.problem(
                "its authorization is of the kind \(quoted(kind)), which volley does not make: choose none, and use -H"
            )
        }
    }

    private func setContent(_ draft: inout RequestDraft, _ body: JSONTree?, _ place: InputPlace) throws(UsageError) {
        guard let body, let mode = body["mode"]?.string, body["disabled"]?.bool != true else { return }
        switch mode {
        case "raw":
            guard let text = body["raw"]?.string, !text.isEmpty else { return }
            draft.body = Array(try filled(text, place).utf8)
            if let type = body["options"]?["raw"]?["language"]?.string.flatMap({ Self.types[$0] }) {
                draft.headers = draft.headers.adding(["Content-Type: \(type)"])
            }
        case "urlencoded":
            var pairs: [String] = []
            for row in body["urlencoded"]?.items ?? [] where row["disabled"]?.bool != true {
                let pair = [row["key"]?.string ?? "", row["value"]?.string ?? ""]
                var parts: [String] = []
                for text in pair { parts.append(Self.escaped(try filled(text, place))) }
                pairs.append(parts.joined(separator: "="))
            }
            draft.body = Array(pairs.joined(separator: "&").utf8)
            draft.headers = draft.headers.adding(["Content-Type: application/x-www-form-urlencoded"])
        case "graphql":
            guard let content = body["graphql"] else { return }
            draft.body = Array(try graphQL(content, place).line().utf8)
            draft.headers = draft.headers.adding(["Content-Type: application/json"])
        case "none": return
        default: throw place.problem("its content is of the kind \(quoted(mode)), which is not in the collection")
        }
    }

    /// The content of a GraphQL request. A collection has its variables as text, and a server reads a map.
    private func graphQL(_ content: JSONTree, _ place: InputPlace) throws(UsageError) -> JSONTree {
        var members: [(String, JSONTree)] = []
        for (name, value) in content.members ?? [] {
            let text = try filled(value.string ?? value.line(), place)
            if name != "variables" {
                members.append((name, value.string == nil ? value : .string(text)))
            } else if !text.allSatisfy(\.isWhitespace) {
                guard let map = try? JSONReader.read(Array(text.utf8)), map.members != nil else {
                    throw place.problem("its GraphQL variables are no JSON object")
                }
                members.append((name, map))
            }
        }
        return .object(members)
    }

    /// The text as a name or value of a form or a query, or as a segment of a path.
    private static func escaped(_ text: String) -> String {
        String(decoding: TemplateValue.Escape.form.apply(to: Array(text.utf8)), as: UTF8.self)
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
