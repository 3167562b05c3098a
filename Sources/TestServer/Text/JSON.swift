import TextCoding

extension JSONTree {
    static func object(_ members: KeyValuePairs<String, JSONTree>) -> JSONTree {
        .object(members.map { ($0.key, $0.value) })
    }

    static func number(_ value: Int) -> JSONTree { .number(String(value)) }

    /// Pairs as an object. A repeated name has an array of its values.
    static func grouping(_ pairs: [Pair]) -> JSONTree {
        var members: [(String, JSONTree)] = []
        var indices: [String: Int] = [:]
        for pair in pairs {
            guard let index = indices[pair.name] else {
                indices[pair.name] = members.count
                members.append((pair.name, .string(pair.value)))
                continue
            }
            let before = members[index].1
            members[index].1 = .array((before.elements ?? [before]) + [.string(pair.value)])
        }
        return .object(members)
    }

    /// Members sorted by name, as in httpbin: indented with a line feed at the end, or on one line.
    func serialized(pretty: Bool = true) -> [UInt8] {
        Array((pretty ? sorted.text : sorted.line(gap: " ")).utf8)
    }
}
