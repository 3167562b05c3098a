import UncurlLoad
import UncurlText

/// Reads an OpenAPI description (3.x, JSON): one request for each operation, with the description's examples or, where
/// there are none, with small values that its schemas allow.
enum OpenAPIInput {
    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    static func parse(_ bytes: [UInt8], _ file: String) throws(UsageError) -> RequestInput {
        let tree = try InputDocument.read(bytes, file)
        guard let version = tree["openapi"]?.string, version.begins(with: "3."),
            case .object(let paths)? = tree["paths"]
        else { throw UsageError("\(quoted(file)) is no OpenAPI description of version 3: it has no openapi and paths") }
        var schemas = OpenAPISchemas(tree, length: bytes.count)
        var input = RequestInput()
        // Most operations share it.
        var common: String?
        for (path, item) in paths {
            for method in methods {
                guard let operation = item[method], case .object = operation else { continue }
                let place = InputPlace(file: file, line: input.drafts.count + 1, unit: "operation")
                let shared = item["parameters"]?.items ?? []
                var draft = RequestDraft(method: method.uppercased(), url: "", place: place)
                draft.name = operation["operationId"]?.string ?? "\(method.uppercased()) \(path)"
                let servers = operation["servers"] ?? item["servers"]
                let base: String
                if servers == nil, let common {
                    base = common
                } else {
                    base = try self.base(servers ?? tree["servers"], &schemas, place)
                    if servers == nil { common = base }
                }
                try schemas.take(base.utf8.count, place)
                draft.url = base + path
                try setParameters(&draft, shared + (operation["parameters"]?.items ?? []), &schemas)
                try setContent(&draft, schemas.resolved(operation["requestBody"]), &schemas)
                try input.add(draft)
            }
        }
        return input
    }

    /// The first server's URL, with the defaults of its variables. Empty where there is none, so that paths refer to
    /// the run's host.
    private static func base(
        _ servers: JSONTree?,
        _ schemas: inout OpenAPISchemas,
        _ place: InputPlace
    ) throws(UsageError) -> String {
        guard let server = servers?.items.first, var url = server["url"]?.string else { return "" }
        let variables = (server["variables"]?.members ?? []).map { (OctetText($0.0), $0.1["default"]?.string ?? "") }
        url = try schemas.filled(url, Dictionary(variables) { first, _ in first }, place)
        let end = url.utf8.lastIndex { $0 != UInt8(ascii: "/") }
        url = String(url[..<(end.map { url.utf8.index(after: $0) } ?? url.startIndex)])
        guard url.isEmpty || WrittenURL.isComplete(url) else {
            throw place.problem("the server \(quoted(url)) is neither a URL nor a path")
        }
        return url
    }

    private static func setParameters(
        _ draft: inout RequestDraft,
        _ parameters: [JSONTree],
        _ schemas: inout OpenAPISchemas
    ) throws(UsageError) {
        var query: [String] = []
        var cookies: [String] = []
        var segments: [OctetText: String] = [:]
        // The operation's own parameters come last, and replace the path's.
        var seen: Set<OctetText> = []
        for parameter in parameters.reversed() {
            guard let parameter = schemas.resolved(parameter), let name = parameter["name"]?.string,
                let place = parameter["in"]?.string, seen.insert(OctetText("\(place) \(name)")).inserted
            else { continue }
            guard place.isSame(as: "path") || parameter["required"]?.bool == true else { continue }
            try schemas.take(name.utf8.count, draft.place)
            let value = try schemas.example(of: parameter, draft.place)
            // The styles that a description has unless it says otherwise: form in queries, else simple.
            let texts = (value.elements ?? [value]).map { $0.string ?? $0.line() }
            let text = texts.joined(separator: ",")
            let isRepeated = place.isSame(as: "query") && parameter["explode"]?.bool != false
            let parts = isRepeated ? texts.map(encoded) : [texts.map(encoded).joined(separator: ",")]
            switch OctetText(place) {
            case "path": segments[OctetText(name)] = parts[0]
            case "query": query.insert(contentsOf: parts.map { "\(encoded(name))=\($0)" }, at: 0)
            case "header": draft.headers.insert("\(name): \(text)", at: 0)
            case "cookie": cookies.insert("\(name)=\(text)", at: 0)
            default: throw draft.place.problem("the parameter \(quoted(name)) is in \(quoted(place))")
            }
        }
        draft.url = try schemas.filled(draft.url, segments, draft.place)
        if !query.isEmpty { draft.url += "?" + query.joined(separator: "&") }
        if !cookies.isEmpty { draft.headers.append("Cookie: " + cookies.joined(separator: "; ")) }
    }

    private static func encoded(_ text: String) -> String {
        String(decoding: TemplateValue.Escape.form.apply(to: Array(text.utf8)), as: UTF8.self)
    }

    private static func setContent(
        _ draft: inout RequestDraft,
        _ body: JSONTree?,
        _ schemas: inout OpenAPISchemas
    ) throws(UsageError) {
        guard let content = body?["content"]?.members, !content.isEmpty else { return }
        try schemas.take(content.reduce(0) { $0 + $1.0.utf8.count }, draft.place)
        var (type, media) =
            content.first { $0.0.contains("json") } ?? content.first { isForm($0.0) || isMultipart($0.0) } ?? content[0]
        let example = try schemas.example(of: media, draft.place)
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
        let files = (schema?["properties"]?.members ?? []).filter {
            $0.1["format"]?.string?.isSame(as: "binary") == true
        }
        let fileNames = Set(files.map(\.0))
        for (name, value) in members {
            let isFile = fileNames.contains(name)
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
