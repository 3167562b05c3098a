import UncurlText

extension String {
    /// Whether two names are equal apart from the case of ASCII letters (RFC 9110 §5.1).
    func equalsIgnoringCase(_ other: String) -> Bool {
        let (left, right) = (utf8, other.utf8)
        return left.count == right.count && zip(left, right).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}

/// Parses `a=1&b=2` in order; a name without `=` has an empty value.
func formPairs(_ text: some StringProtocol) -> [Pair] {
    text.utf8.split(separator: UInt8(ascii: "&")).map { part in
        let pieces = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let value = pieces.count > 1 ? percentDecodedOctets(pieces[1], plusIsSpace: true) : []
        return Pair(
            name: String(decoding: percentDecodedOctets(pieces[0], plusIsSpace: true), as: UTF8.self),
            value: String(decoding: value, as: UTF8.self)
        )
    }
}

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
