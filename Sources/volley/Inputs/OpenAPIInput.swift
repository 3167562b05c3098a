import LoadGenerator
import TextCoding

/// Reads an OpenAPI description (3.x, JSON): one request for each operation, with the description's examples or, where
/// there are none, with small values that its schemas allow.
enum OpenAPIInput {
    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        let tree = try InputDocument.read(bytes, file)
        guard let version = tree["openapi"]?.string, version.hasPrefix("3."), case .object(let paths)? = tree["paths"]
        else { throw UsageError("\(quoted(file)) is no OpenAPI description of version 3: it has no openapi and paths") }
        let schemas = OpenAPISchemas(tree)
        var input = RequestInput()
        for (path, item) in paths {
            for method in methods {
                guard let operation = item[method], case .object = operation else { continue }
                let place = InputPlace(file: file, line: input.drafts.count + 1, unit: "operation")
                let shared = item["parameters"]?.items ?? []
                var draft = RequestDraft(method: method.uppercased(), url: "", place: place)
                draft.name = operation["operationId"]?.string ?? "\(method.uppercased()) \(path)"
                let base = operation["servers"] ?? item["servers"] ?? tree["servers"]
                draft.url = try self.base(base, place) + path
                try setParameters(&draft, shared + (operation["parameters"]?.items ?? []), schemas)
                try setContent(&draft, schemas.resolved(operation["requestBody"]), schemas)
                try input.add(draft)
            }
        }
        return input
    }

    /// The first server's URL, with the defaults of its variables. Empty where there is none, so that paths refer to
    /// the run's host.
    private static func base(_ servers: JSONTree?, _ place: InputPlace) throws(UsageError) -> String {
        guard let server = servers?.items.first, var url = server["url"]?.string else { return "" }
        for (name, variable) in server["variables"]?.members ?? [] {
            url = url.replacingEach("{\(name)}", by: variable["default"]?.string ?? "")
        }
        while url.hasSuffix("/") { url.removeLast() }
        guard url.isEmpty || url.hasPrefix("/") || url.contains("://") else {
            throw place.problem("the server \(quoted(url)) is neither a URL nor a path")
        }
        return url
    }

    private static func setParameters(
        _ draft: inout RequestDraft,
        _ parameters: [JSONTree],
        _ schemas: OpenAPISchemas
    ) throws(UsageError) {
        var query: [String] = []
        var cookies: [String] = []
        // The operation's own parameters come last, and replace the path's.
        var seen: Set<String> = []
        for parameter in parameters.reversed() {
            guard let parameter = schemas.resolved(parameter), let name = parameter["name"]?.string,
                let place = parameter["in"]?.string, seen.insert("\(place) \(name)").inserted
            else { continue }
            guard place == "path" || parameter["required"]?.bool == true else { continue }
            let value = schemas.example(of: parameter)
            // The styles that a description has unless it says otherwise: form in queries, else simple.
            let texts = (value.elements ?? [value]).map { $0.string ?? $0.line() }
            let text = texts.joined(separator: ",")
            let isRepeated = place == "query" && parameter["explode"]?.bool != false
            let parts = isRepeated ? texts.map(encoded) : [texts.map(encoded).joined(separator: ",")]
            switch place {
            case "path": draft.url = draft.url.replacingEach("{\(name)}", by: parts[0])
            case "query": query.insert(contentsOf: parts.map { "\(encoded(name))=\($0)" }, at: 0)
            case "header": draft.headers.insert("\(name): \(text)", at: 0)
            case "cookie": cookies.insert("\(name)=\(text)", at: 0)
            default: throw draft.place.problem("the parameter \(quoted(name)) is in \(quoted(place))")
            }
        }
        if !query.isEmpty { draft.url += "?" + query.joined(separator: "&") }
        if !cookies.isEmpty { draft.headers.append("Cookie: " + cookies.joined(separator: "; ")) }
    }

    private static func encoded(_ text: String) -> String {
        String(decoding: TemplateValue.Escape.form.apply(to: Array(text.utf8)), as: UTF8.self)
    }

    private static func setContent(
        _ draft: inout RequestDraft,
        _ body: JSONTree?,
        _ schemas: OpenAPISchemas
    ) throws(UsageError) {
        guard let content = body?["content"]?.members, !content.isEmpty else { return }
        var (type, media) =
            content.first { $0.0.contains("json") } ?? content.first { isForm($0.0) || isMultipart($0.0) } ?? content[0]
        let example = schemas.example(of: media)
        if type.contains("json") {
            draft.body = Array(example.line().utf8)
        } else if isForm(type), let members = example.members {
            let pairs = members.map { "\(encoded($0.0))=\(encoded($0.1.string ?? $0.1.line()))" }
            draft.body = Array(pairs.joined(separator: "&").utf8)
        } else if isMultipart(type), let members = example.members {
            let form = try FormBody.body(try parts(members, schemas.resolved(media["schema"]), draft.place))
            (draft.body, type) = (form.bytes, form.type)
        } else if let text = example.string ?? (plain.contains(type) ? example.line() : nil) {
            draft.body = Array(text.utf8)
        } else {
            throw draft.place.problem(
                "its content has the type \(quoted(type)), which is not made from a schema: add an example as text"
            )
        }
        draft.headers.append("Content-Type: \(type)")
    }

    /// Types that any text has.
    private static let plain: Set<String> = ["text/plain", "application/octet-stream"]

    private static func isForm(_ type: String) -> Bool { type == "application/x-www-form-urlencoded" }

    private static func isMultipart(_ type: String) -> Bool { type == "multipart/form-data" }

    /// The parts of a form. In OpenAPI, a list has a part for each element, and an object is JSON.
    private static func parts(
        _ members: [(String, JSONTree)],
        _ schema: JSONTree?,
        _ place: InputPlace
    ) throws(UsageError) -> [FormPart] {
        var parts: [FormPart] = []
        for (name, value) in members {
            let isFile = schema?["properties"]?[name]?["format"]?.string == "binary"
            for element in value.elements ?? [value] {
                let type = isFile ? "application/octet-stream" : element.members == nil ? nil : "application/json"
                parts.append(
                    try FormPart(
                        name: name,
                        fileName: isFile ? name : nil,
                        type: type,
                        content: Array((element.string ?? element.line()).utf8),
                        of: place.inMessages
                    )
                )
            }
        }
        return parts
    }
}

/// The schemas of a description, and values that they allow.
private struct OpenAPISchemas {
    private let root: JSONTree
    /// The most levels of nested schemas, because a schema may contain itself.
    private static let depthLimit = 8
    /// The most schemas that one example is made of, because a schema may contain itself many times.
    private static let nodeLimit = 10_000

    init(_ root: JSONTree) { self.root = root }

    /// The node that a `$ref` within the document refers to.
    func resolved(_ node: JSONTree?) -> JSONTree? {
        var node = node
        for _ in 0..<Self.depthLimit {
            guard let reference = node?["$ref"]?.string else { return node }
            node = JSONPointer(String(reference.drop { $0 != "/" })).flatMap { $0.value(in: root) }
        }
        return nil
    }

    /// The example of a parameter or a content, or one that its schema allows.
    func example(of node: JSONTree) -> JSONTree {
        if let example = node["example"] { return example }
        if let first = node["examples"]?.members?.first, let value = resolved(first.1)?["value"] { return value }
        var budget = Self.nodeLimit
        return example(ofSchema: node["schema"], depth: 0, &budget)
    }

    private func example(ofSchema node: JSONTree?, depth: Int, _ budget: inout Int) -> JSONTree {
        budget -= 1
        guard depth < Self.depthLimit, budget > 0, let schema = resolved(node) else { return .null }
        if let value = schema["example"] ?? schema["examples"]?.items.first ?? schema["default"] ?? schema["const"] {
            return value
        }
        if let value = schema["enum"]?.items.first { return value }
        for name in ["allOf", "oneOf", "anyOf"] {
            guard let all = schema[name]?.items, !all.isEmpty else { continue }
            guard name == "allOf" else { return example(ofSchema: all[0], depth: depth + 1, &budget) }
            var members: [(String, JSONTree)] = []
            for part in all {
                guard case .object(let more) = example(ofSchema: part, depth: depth + 1, &budget) else { continue }
                members += more
            }
            return .object(members)
        }
        // In OpenAPI 3.1, a value may have several types.
        switch schema["type"]?.string ?? schema["type"]?.items.first?.string ?? "object" {
        case "integer": return schema["minimum"] ?? .integer(1)
        case "number": return schema["minimum"] ?? .integer(1)
        case "boolean": return .bool(true)
        case "string": return .string(Self.text(schema))
        case "array":
            let count = schema["minItems"]?.integer ?? 0
            return .array(count == 0 ? [] : [example(ofSchema: schema["items"], depth: depth + 1, &budget)])
        case "null": return .null
        default:
            let required = Set((schema["required"]?.items ?? []).compactMap(\.string))
            let members = (schema["properties"]?.members ?? []).filter { required.contains($0.0) }
            return .object(members.map { ($0.0, example(ofSchema: $0.1, depth: depth + 1, &budget)) })
        }
    }

    private static func text(_ schema: JSONTree) -> String {
        switch schema["format"]?.string {
        case "date": "2026-01-01"
        case "date-time": "2026-01-01T00:00:00Z"
        case "uuid": "00000000-0000-4000-8000-000000000000"
        case "email": "user@example.com"
        case "uri": "https://example.com/"
        default: String(repeating: "a", count: Int(clamping: min(max(schema["minLength"]?.integer ?? 1, 1), 1_000)))
        }
    }
}
