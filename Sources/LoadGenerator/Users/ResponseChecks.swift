/// What a response has to be for its request to count as a success.
package struct ResponseChecks: Hashable, Sendable {
    /// By status code; nil: 2xx and 3xx.
    package private(set) var statuses: [Bool]?
    /// A name, and the value if one is asked for.
    package private(set) var headers: [Pair] = []
    /// Somewhere in the content.
    package private(set) var body: BodySearch?

    package struct Pair: Hashable, Sendable {
        package var name: String
        package var value: String?
    }

    /// - Parameters:
    ///   - statuses: `200,204`, `2xx`, `300-399`.
    ///   - headers: `Name`, or `Name: value`.
    package init(statuses: String?, headers: [String], body: String?) throws(UsageError) {
        if let statuses { self.statuses = try Self.codes(statuses) }
        for header in headers {
            let parts = header.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { $0.trimmed }
            guard let name = parts.first, !name.isEmpty, !name.contains(" ") else {
                throw UsageError("--expect-header \(quoted(header)) is not Name or 'Name: value'")
            }
            self.headers.append(Pair(name: name, value: parts.count == 2 ? parts[1] : nil))
        }
        if let body {
            guard !body.isEmpty else { throw UsageError("--expect-body is empty: every response has that") }
            self.body = BodySearch(Array(body.utf8))
        }
    }

    package init() {}

    package var isEmpty: Bool { statuses == nil && headers.isEmpty && body == nil }

    func accepts(status: Int) -> Bool {
        guard let statuses else { return Tally.isSuccess(status: status) }
        return statuses.indices.contains(status) && statuses[status]
    }

    private static func codes(_ text: String) throws(UsageError) -> [Bool] {
        var codes = [Bool](repeating: false, count: 1_000)
        for part in text.split(separator: ",", omittingEmptySubsequences: false).map({ $0.trimmed.lowercased() }) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            let low = Int(part.hasSuffix("xx") ? part.dropLast(2) + "00" : Substring(ends[0]))
            let high = Int(part.hasSuffix("xx") ? part.dropLast(2) + "99" : Substring(ends[ends.count - 1]))
            guard let low, let high, ends.count <= 2, low >= 200, low <= high, high <= 999 else {
                throw UsageError("--expect-status \(quoted(part)) is no status: use such as 200, 2xx or 300-399")
            }
            for code in low...high { codes[code] = true }
        }
        return codes
    }
}

/// Finds bytes in content that comes in pieces, without keeping any (Knuth, Morris and Pratt).
package struct BodySearch: Hashable, Sendable {
    private let needle: [UInt8]
    /// How much of the needle still fits where it fits no further.
    private let fallback: [Int]

    package init(_ needle: [UInt8]) {
        self.needle = needle
        var table = [Int](repeating: 0, count: needle.count)
        var length = 0
        for index in needle.indices.dropFirst() {
            while length > 0, needle[index] != needle[length] { length = table[length - 1] }
            if needle[index] == needle[length] { length += 1 }
            table[index] = length
        }
        fallback = table
    }

    /// Goes on from `matched` bytes of the needle; as many as it has once it was found.
    func advance(_ matched: inout Int, over bytes: Span<UInt8>) {
        for index in bytes.indices {
            if matched == needle.count { return }
            while matched > 0, bytes[index] != needle[matched] { matched = fallback[matched - 1] }
            if bytes[index] == needle[matched] { matched += 1 }
        }
    }

    func isFound(_ matched: Int) -> Bool { matched == needle.count }
}
