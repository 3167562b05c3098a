import UncurlLoad
import UncurlText

/// The schemas of a description, and values that they allow.
struct OpenAPISchemas {
    private let root: JSONTree
    /// What the references that were resolved before refer to.
    private var targets: [OctetText: JSONTree?] = [:]
    /// How many more bytes the requests may have. One example, or one server's URL, may be in all of them.
    private var room: Int
    /// The most levels of nested schemas, because a schema may contain itself.
    private static let depthLimit = 8
    /// The most schemas that one example is made of, because a schema may contain itself many times.
    private static let nodeLimit = 10_000

    /// The bytes that a schema or a value counts, for the time that it takes.
    private static let cost = 32
    /// The bytes that each member or other part of a schema counts, for the time that it takes.
    private static let partCost = 16

    /// - Parameter length: the document's, in bytes.
    init(_ root: JSONTree, length: Int) { (self.root, room) = (root, 1 << 20 + 16 * length) }

    /// Notes that a request gets so many bytes more.
    mutating func take(_ count: Int, _ place: InputPlace) throws(UsageError) {
        room -= count
        guard room >= 0 else {
            throw place.problem(
                "the examples and the schemas are too long for so many requests: use a part of the file"
            )
        }
    }

    /// The node that a `$ref` within the document refers to.
    mutating func resolved(_ node: JSONTree?) -> JSONTree? {
        var node = node
        for _ in 0..<Self.depthLimit {
            guard let reference = node?["$ref"]?.string else { return node }
            let key = OctetText(reference)
            if let known = targets[key] {
                node = known
            } else {
                node = JSONPointer(String(Substring(reference.utf8.drop { $0 != UInt8(ascii: "/") }))).flatMap {
                    $0.value(in: root)
                }
                targets[key] = .some(node)
            }
        }
        return nil
    }

    /// Replaces each `{name}` that has a value.
    mutating func filled(
        _ text: String,
        _ values: [OctetText: String],
        _ place: InputPlace
    ) throws(UsageError) -> String {
        guard !values.isEmpty else { return text }
        let (open, close) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
        var out: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let first = rest.popFirst() {
            out.append(first)
            guard first == open else { continue }
            let name = rest.prefix { $0 != open && $0 != close }
            guard rest[name.endIndex...].first == close,
                let value = values[OctetText(String(decoding: name, as: UTF8.self))]
            else { continue }
            try take(value.utf8.count, place)
            out.removeLast()
            out += value.utf8
            rest = rest[(name.endIndex + 1)...]
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The example of a parameter or a content, or one that its schema allows.
    mutating func example(of node: JSONTree, _ place: InputPlace) throws(UsageError) -> JSONTree {
        var value = node["example"]
        if value == nil, let first = node["examples"]?.members?.first { value = resolved(first.1)?["value"] }
        if let value {
            try take(value, place)
            return value
        }
        var budget = Self.nodeLimit
        return try example(ofSchema: node["schema"], depth: 0, &budget, place)
    }

    /// Notes that a request gets this value.
    private mutating func take(_ value: JSONTree, _ place: InputPlace) throws(UsageError) {
        switch value {
        case .null, .bool, .integer: try take(Self.cost, place)
        case .number(let text), .string(let text): try take(text.utf8.count + Self.cost, place)
        case .array(let values): for value in values { try take(value, place) }
        case .object(let members):
            for (name, value) in members {
                try take(name.utf8.count, place)
                try take(value, place)
            }
        }
    }

    private mutating func example(
        ofSchema node: JSONTree?,
        depth: Int,
        _ budget: inout Int,
        _ place: InputPlace
    ) throws(UsageError) -> JSONTree {
        budget -= 1
        try take(Self.cost, place)
        guard depth < Self.depthLimit, budget > 0, let schema = resolved(node) else { return .null }
        try take(Self.partCost * Self.length(of: schema), place)
        if let value = schema["example"] ?? schema["examples"]?.items.first ?? schema["default"] ?? schema["const"]
            ?? schema["enum"]?.items.first
        {
            try take(value, place)
            return value
        }
        for name in ["allOf", "oneOf", "anyOf"] {
            guard let all = schema[name]?.items, !all.isEmpty else { continue }
            guard name == "allOf" else { return try example(ofSchema: all[0], depth: depth + 1, &budget, place) }
            var members: [(String, JSONTree)] = []
            for part in all {
                guard case .object(let more) = try example(ofSchema: part, depth: depth + 1, &budget, place) else {
                    continue
                }
                members += more
            }
            return .object(members)
        }
        // In OpenAPI 3.1, a value may have several types.
        switch OctetText(schema["type"]?.string ?? schema["type"]?.items.first?.string ?? "object") {
        case "integer": return schema["minimum"] ?? .integer(1)
        case "number": return schema["minimum"] ?? .integer(1)
        case "boolean": return .bool(true)
        case "string":
            let text = Self.text(schema)
            try take(text.utf8.count, place)
            return .string(text)
        case "array":
            let count = schema["minItems"]?.integer ?? 0
            if count == 0 { return .array([]) }
            return .array([try example(ofSchema: schema["items"], depth: depth + 1, &budget, place)])
        case "null": return .null
        default:
            let required = Set((schema["required"]?.items ?? []).compactMap { $0.string.map { OctetText($0) } })
            var members: [(String, JSONTree)] = []
            for (name, property) in schema["properties"]?.members ?? [] where required.contains(OctetText(name)) {
                try take(name.utf8.count, place)
                members.append((name, try example(ofSchema: property, depth: depth + 1, &budget, place)))
            }
            return .object(members)
        }
    }

    /// How many members and other parts a schema has.
    private static func length(of schema: JSONTree) -> Int {
        let parts = (schema["required"]?.items.count ?? 0) + (schema["properties"]?.members?.count ?? 0)
        return parts + (schema.members?.count ?? 0)
    }

    private static func text(_ schema: JSONTree) -> String {
        switch schema["format"]?.string.map({ OctetText($0) }) {
        case "date": "2026-01-01"
        case "date-time": "2026-01-01T00:00:00Z"
        case "uuid": "00000000-0000-4000-8000-000000000000"
        case "email": "user@example.com"
        case "uri": "https://example.com/"
        default: String(repeating: "a", count: Int(clamping: min(max(schema["minLength"]?.integer ?? 1, 1), 1_000)))
        }
    }
}
