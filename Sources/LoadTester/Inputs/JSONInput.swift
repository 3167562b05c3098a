import TestServer

/// A JSON document that is read member by member; what is of another kind is nil, and null is nil too.
struct JSONInput {
    private let json: JSON

    /// Nil if `text` is no JSON document.
    init?(_ text: String) { self.init(Array(text.utf8)) }

    init?(_ bytes: [UInt8]) {
        guard let json = JSONParser.parse(bytes) else { return nil }
        self.json = json
    }

    private init(json: JSON) { self.json = json }

    subscript(name: String) -> JSONInput? { members?.first { $0.0 == name }?.1 }

    var string: String? {
        if case .string(let text) = json { text } else { nil }
    }

    /// The bytes that a text in Base64 stands for.
    var base64: [UInt8]? { string.flatMap { Base64.decode($0) } }

    var number: Double? {
        if case .number(let text) = json { Double(text) } else { nil }
    }

    var elements: [JSONInput]? {
        if case .array(let values) = json { values.map { JSONInput(json: $0) } } else { nil }
    }

    var members: [(String, JSONInput)]? {
        guard case .object(let members) = json else { return nil }
        return members.compactMap { member in
            if case .null = member.value { nil } else { (member.name, JSONInput(json: member.value)) }
        }
    }
}
