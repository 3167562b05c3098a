public import URLLoading

extension Parameters {
    /// The parameters as parts of a multipart form. Names follow the rules of a query, without escapes. Bytes stay
    /// bytes, null is an empty part (unless ``QueryEncoding/nulls`` omits it), and any other value is text.
    public func formParts(
        _ rules: QueryEncoding = QueryEncoding(),
        stringEncoding: String.Encoding = .utf8
    ) throws(ParameterFailure) -> [(name: String, value: Data)] {
        var parts: [(name: String, value: Data)] = []
        for leaf in try rules.leaves(self) {
            switch leaf.value {
            case .data(let data): parts.append((leaf.name, data))
            case .null:
                if case .omitted = rules.nulls { continue }
                parts.append((leaf.name, Data()))
            case .bool, .integer, .unsigned, .double, .decimal, .string, .date, .array, .set, .keyed:
                guard let data = try rules.text(of: leaf).data(using: stringEncoding) else {
                    throw ParameterFailure(.notInEncoding(stringEncoding))
                }
                parts.append((leaf.name, data))
            }
        }
        return parts
    }
}
