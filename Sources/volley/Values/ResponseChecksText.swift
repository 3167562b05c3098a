import UncurlLoad

extension ResponseChecks {
    /// - Parameters:
    ///   - statuses: `200,204`, `2xx`, `300-399`.
    ///   - headers: `Name`, or `Name: value`.
    ///   - names: the names of the three in error messages.
    init(
        statuses: String?,
        headers: [String],
        body: String?,
        names: (statuses: String, headers: String, body: String) = (
            "--expect-status", "--expect-header", "--expect-body"
        )
    ) throws(UsageError) {
        var pairs: [Pair] = []
        for header in headers {
            let parts = header.parts(at: ":", most: 2).map { $0.trimmed }
            guard let name = parts.first, !name.isEmpty, !name.utf8.contains(UInt8(ascii: " ")) else {
                throw UsageError("\(names.headers) \(quoted(header)) is not Name or 'Name: value'")
            }
            pairs.append(Pair(name: name, value: parts.count == 2 ? parts[1] : nil))
        }
        if let body {
            guard !body.isEmpty else { throw UsageError("\(names.body) is empty: every response has that") }
        }
        self.init(
            statuses: try statuses.map { text throws(UsageError) in try Self.codes(text, names.statuses) },
            headers: pairs,
            body: body.map { Array($0.utf8) }
        )
    }

    private static func codes(_ text: String, _ name: String) throws(UsageError) -> [Bool] {
        var codes = [Bool](repeating: false, count: 1_000)
        for part in text.parts(at: ",").map({ $0.trimmed.lowercased() }) {
            let ends = part.parts(at: "-").map(String.init)
            let low = Int(part.ends(with: "xx") ? part.dropLast(2) + "00" : Substring(ends[0]))
            let high = Int(part.ends(with: "xx") ? part.dropLast(2) + "99" : Substring(ends[ends.count - 1]))
            guard let low, let high, ends.count <= 2, low >= 200, low <= high, high <= 999 else {
                throw UsageError("\(name) \(quoted(part)) is no status: use such as 200, 2xx or 300-399")
            }
            for code in low...high { codes[code] = true }
        }
        return codes
    }
}
