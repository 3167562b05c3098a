internal import HTTP1

/// Which requests a stored response answers, of all those for its URL (RFC 9111 §4.1).
enum VaryRule {
    /// The request's fields that a response's Vary names: what is stored with it.
    static func select(_ request: HTTPFields, varying response: HTTPFields) -> [VaryingField] {
        guard response.contains(.vary) else { return [] }
        var selected: [VaryingField] = []
        for member in response.listMembers(of: "Vary") {
            let name = member.lowercased()
            if !selected.contains(where: { $0.name == name }) {
                selected.append(VaryingField(name: name, value: value(of: name, in: request)))
            }
        }
        return selected
    }

    /// Whether a request has what the stored response was selected by. `Vary: *` never matches.
    static func matches(_ varying: [VaryingField], _ request: HTTPFields) -> Bool {
        varying.allSatisfy { $0.name != "*" && $0.value == value(of: $0.name, in: request) }
    }

    /// Lines are joined and blanks around commas dropped (§4.1): neither means anything in a list. Nothing is known here of
    /// what else may be the same in a field.
    private static func value(of name: String, in request: HTTPFields) -> String? {
        guard request.contains(name) else { return nil }
        return request.listMembers(of: name).joined(separator: ",")
    }
}
