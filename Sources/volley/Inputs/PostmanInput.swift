import UncurlLoad
import UncurlText

/// Reads a Postman collection (v2.0, v2.1): the requests of its folders in order, named by folder and request.
extension RequestInput {
    static func postman(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        let tree = try JSONTree.read(bytes, file)
        guard tree["info"] != nil, tree["item"]?.elements != nil else {
            throw UsageError("\(quoted(file)) is no Postman collection: it has no info and item")
        }
        var reader = PostmanReader(file: file, length: bytes.count, variables(tree))
        try reader.read(tree["item"]?.items ?? [], folder: "", login: authorization(tree["auth"]))
        return reader.input
    }

    private static func variables(_ tree: JSONTree) -> [OctetText: String] {
        var values: [OctetText: String] = [:]
        for row in tree["variable"]?.items ?? [] {
            guard let name = row["key"]?.string ?? row["id"]?.string, let value = row["value"] else { continue }
            values[OctetText(name)] = value.string ?? value.line()
        }
        return values
    }
}

/// How the requests of a folder log in: the kind, and its values by name.
private typealias PostmanAuthorization = (kind: String, values: [OctetText: String])

/// Nil for no object, with which the folder's authorization applies.
private func authorization(_ node: JSONTree?) -> PostmanAuthorization? {
    guard let node, node.members != nil else { return nil }
    let kind = node["type"]?.string ?? "noauth"
    let rows = node[kind]
    // v2.0 has an object in the place of the rows.
    let pairs = rows?.elements?.map { ($0["key"]?.string ?? "", $0["value"]) } ?? rows?.members ?? []
    return (kind, Dictionary(pairs.map { (OctetText($0.0), $0.1?.string ?? "") }) { first, _ in first })
}

private struct PostmanReader {
    private let file: String
    private let variables: [OctetText: String]
    /// How many more bytes the requests may have. One variable or authorization may be in all of them.
    private var room: Int
    /// The media types that Postman sends for the languages of a raw content.
    private static let types: [OctetText: String] = [
        "text": "text/plain", "json": "application/json", "xml": "application/xml", "html": "text/html",
        "javascript": "application/javascript",
    ]
    private(set) var input = RequestInput()

    init(file: String, length: Int, _ variables: [OctetText: String]) {
        (self.file, self.variables) = (file, variables)
        room = 512 << 10 + 16 * length
    }

    /// Notes that a request gets so many bytes more.
    private mutating func take(_ count: Int, _ place: InputPlace) throws(UsageError) {
        room -= count
        guard room >= 0 else {
            throw place.problem(
                "the variables, the authorizations and the folders' names are too long for so many requests: use a part of the collection"
            )
        }
    }

    /// Reads folders by recursion. The JSON reader limits the nesting.
    mutating func read(_ items: [JSONTree], folder: String, login: PostmanAuthorization?) throws(UsageError) {
        for item in items {
            let name = folder + (item["name"]?.string ?? "")
            if let inner = item["item"]?.elements {
                let own = authorization(item["auth"]) ?? login
                try read(inner, folder: name.isEmpty ? "" : name + "/", login: own)
                continue
            }
            let place = InputPlace(file: file, line: input.drafts.count + 1, unit: "request")
            try take(name.utf8.count, place)
            guard let request = item["request"] else { throw place.problem("\(quoted(name)) has no request") }
            var draft = RequestDraft(url: "", place: place)
            draft.name = name.isEmpty ? nil : name
            // A URL by itself is a GET.
            let url = request.string ?? request["url"]?.string ?? request["url"]?["raw"]?.string
            let whole = try filled(try withPathVariables(url ?? "", request["url"]?["variable"], place), place)
            draft.url = String(whole.prefix(before: "#"))
            guard !draft.url.isEmpty else { throw place.problem("\(quoted(name)) has no URL") }
            if !RequestInput.isComplete(draft.url) { draft.url = "http://" + draft.url }
            draft.url = RequestInput.encoded(draft.url)
            draft.method = request["method"]?.string ?? "GET"
            for field in request["header"]?.items ?? [] where field["disabled"]?.bool != true {
                guard let key = field["key"]?.string, let value = field["value"]?.string else { continue }
                draft.headers.append("\(try filled(key, place)): \(try filled(value, place))")
            }
            try authorize(&draft, authorization(request["auth"]) ?? login, place)
            try setContent(&draft, request["body"], place)
            try input.add(draft)
        }
    }

    /// Replaces segments such as `:id` by the request's own values.
    private mutating func withPathVariables(
        _ url: String,
        _ rows: JSONTree?,
        _ place: InputPlace
    ) throws(UsageError) -> String {
        var values: [OctetText: String] = [:]
        for row in rows?.items ?? [] {
            guard let name = row["key"]?.string ?? row["id"]?.string, let value = row["value"]?.string else { continue }
            let filled = Self.escaped(try filled(value, place))
            let segment = OctetText(":" + name)
            values[segment] = values[segment] ?? filled
        }
        let path = url.prefix(before: "?")
        let filled = path.parts(at: "/").map { values[OctetText($0)] ?? String($0) }
        try take(filled.reduce(0) { $0 + $1.utf8.count }, place)
        return filled.joined(separator: "/") + url[path.endIndex...]
    }

    /// Adds the field, or the part of the query, that Postman makes of a request's authorization.
    private mutating func authorize(
        _ draft: inout RequestDraft,
        _ authorization: PostmanAuthorization?,
        _ place: InputPlace
    ) throws(UsageError) {
        guard let authorization, !authorization.kind.isSame(as: "noauth") else { return }
        func value(_ name: String) throws(UsageError) -> String {
            try filled(authorization.values[OctetText(name)] ?? "", place)
        }
        switch OctetText(authorization.kind) {
        case "bearer": draft.headers = draft.headers.adding(["Authorization: Bearer \(try value("token"))"])
        case "oauth2" where try !value("accessToken").isEmpty:
            draft.headers = draft.headers.adding(["Authorization: Bearer \(try value("accessToken"))"])
        case "basic":
            let pair = "\(try value("username")):\(try value("password"))"
            draft.headers = draft.headers.adding(["Authorization: Basic \(base64Text(Array(pair.utf8)))"])
        case "apikey" where try value("in").isSame(as: "query"):
            let pair = "\(Self.escaped(try value("key")))=\(Self.escaped(try value("value")))"
            draft.url += (draft.url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + pair
        case "apikey": draft.headers = draft.headers.adding(["\(try value("key")): \(try value("value"))"])
        default:
            throw place.problem(
                "its authorization is of the kind \(quoted(authorization.kind)), which volley does not make: choose none, and use -H"
            )
        }
    }

    private mutating func setContent(
        _ draft: inout RequestDraft,
        _ body: JSONTree?,
        _ place: InputPlace
    ) throws(UsageError) {
        guard let body, let mode = body["mode"]?.string, body["disabled"]?.bool != true else { return }
        switch OctetText(mode) {
        case "raw":
            guard let text = body["raw"]?.string, !text.isEmpty else { return }
            draft.body = Array(try filled(text, place).utf8)
            if let type = body["options"]?["raw"]?["language"]?.string.flatMap({ Self.types[OctetText($0)] }) {
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
    private mutating func graphQL(_ content: JSONTree, _ place: InputPlace) throws(UsageError) -> JSONTree {
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
    private mutating func filled(_ text: String, _ place: InputPlace) throws(UsageError) -> String {
        let bytes = Array(text.utf8)
        try take(bytes.count, place)
        var out: [UInt8] = []
        var position = 0
        while position < bytes.count {
            guard let end = RequestInput.placeholderEnd(bytes, position) else {
                out.append(bytes[position])
                position += 1
                continue
            }
            let name = String(decoding: bytes[(position + 2)..<(end - 2)], as: UTF8.self)
            guard let value = variables[OctetText(name.trimmed)] else {
                throw place.problem(
                    "{{\(oneLine(name))}} is no variable of the collection: add it to the collection's own"
                )
            }
            try take(value.utf8.count, place)
            out += value.utf8
            position = end
        }
        return String(decoding: out, as: UTF8.self)
    }
}
