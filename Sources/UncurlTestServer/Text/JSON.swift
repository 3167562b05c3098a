import UncurlText

extension JSONTree {
    static func object(_ members: KeyValuePairs<String, JSONTree>) -> JSONTree {
        .object(members.map { ($0.key, $0.value) })
    }

    /// Pairs as an object. A repeated name has an array of its values.
    static func grouping(_ pairs: [Pair]) -> JSONTree {
        var members: [(name: String, values: [JSONTree])] = []
        // By octets: names of many combining marks take long to hash as texts.
        var indices: [[UInt8]: Int] = [:]
        for pair in pairs {
            let name = Array(pair.name.utf8)
            if let index = indices[name] {
                members[index].values.append(.string(pair.value))
            } else {
                indices[name] = members.count
                members.append((pair.name, [.string(pair.value)]))
            }
        }
        return .object(members.map { ($0.name, $0.values.count == 1 ? $0.values[0] : .array($0.values)) })
    }

    /// Members sorted by name, as in httpbin: indented with a line feed at the end, or on one line.
    func serialized(pretty: Bool = true) -> [UInt8] {
        Array((pretty ? sorted.text : sorted.line(gap: " ")).utf8)
    }
}
