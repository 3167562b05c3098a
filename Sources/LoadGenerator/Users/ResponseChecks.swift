package import TextCoding

/// The conditions that a response must meet for its request to be a success.
package struct ResponseChecks: Hashable, Sendable {
    /// The accepted status codes. Nil for 2xx and 3xx.
    package private(set) var statuses: [Bool]?
    /// The names of required fields, and their values if they are given.
    package private(set) var headers: [Pair] = []
    /// The bytes that must occur in the content.
    package private(set) var body: ByteSearch?

    package struct Pair: Hashable, Sendable {
        var name: String
        var value: String?

        package init(name: String, value: String?) { (self.name, self.value) = (name, value) }
    }

    package init(statuses: [Bool]?, headers: [Pair], body: [UInt8]?) {
        (self.statuses, self.headers) = (statuses, headers)
        self.body = body.map { ByteSearch($0) }
    }

    package init() {}

    package var isEmpty: Bool { statuses == nil && headers.isEmpty && body == nil }

    func accepts(status: Int) -> Bool {
        guard let statuses else { return Metrics.isSuccess(status: status) }
        return statuses.indices.contains(status) && statuses[status]
    }

}
