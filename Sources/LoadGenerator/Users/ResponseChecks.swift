/// The conditions that a response must meet for its request to be a success.
package struct ResponseChecks: Hashable, Sendable {
    /// The accepted status codes. Nil for 2xx and 3xx.
    package private(set) var statuses: [Bool]?
    /// The names of required fields, and their values if they are given.
    package private(set) var headers: [Pair] = []
    /// The bytes that must occur in the content.
    package private(set) var body: BodySearch?

    package struct Pair: Hashable, Sendable {
        var name: String
        var value: String?

        package init(name: String, value: String?) { (self.name, self.value) = (name, value) }
    }

    package init(statuses: [Bool]?, headers: [Pair], body: [UInt8]?) {
        (self.statuses, self.headers) = (statuses, headers)
        self.body = body.map { BodySearch($0) }
    }

    package init() {}

    package var isEmpty: Bool { statuses == nil && headers.isEmpty && body == nil }

    func accepts(status: Int) -> Bool {
        guard let statuses else { return Metrics.isSuccess(status: status) }
        return statuses.indices.contains(status) && statuses[status]
    }

}

/// Finds a text in content that comes in pieces, without keeping the content (Knuth, Morris and Pratt).
package struct BodySearch: Hashable, Sendable {
    private let needle: [UInt8]
    /// The number of matched bytes to continue with, for each place where a match can break off.
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

    /// Continues the search from `matched` bytes of the text. When the text is found, `matched` is its length.
    func advance(_ matched: inout Int, over bytes: Span<UInt8>) {
        for index in bytes.indices {
            if matched == needle.count { return }
            while matched > 0, bytes[index] != needle[matched] { matched = fallback[matched - 1] }
            if bytes[index] == needle[matched] { matched += 1 }
        }
    }

    func isFound(_ matched: Int) -> Bool { matched == needle.count }
}
