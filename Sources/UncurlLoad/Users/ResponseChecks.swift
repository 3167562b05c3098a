package import UncurlText

/// The conditions that a response must meet for its request to be a success.
package struct ResponseChecks: Sendable {
    /// The accepted status codes. Nil for 2xx and 3xx.
    package private(set) var statuses: [Bool]?
    /// The names of required fields, and their values if they are given.
    package private(set) var headers: [(name: String, value: String?)] = []
    /// The bytes that must occur in the content.
    package private(set) var body: ByteSearch?
    private(set) var bodyText = ""

    package init(statuses: [Bool]?, headers: [(name: String, value: String?)], body: [UInt8]?) {
        (self.statuses, self.headers) = (statuses, headers)
        self.body = body.map { ByteSearch($0) }
        bodyText = String(decoding: body ?? [], as: UTF8.self)
    }

    package init() {}

    package var isEmpty: Bool { statuses == nil && headers.isEmpty && body == nil }

    func accepts(status: Int) -> Bool {
        guard let statuses else { return Metrics.isSuccess(status: status) }
        return statuses.indices.contains(status) && statuses[status]
    }

    /// The accepted status codes: `200`, `200-299, 404`.
    var statusText: String {
        var ranges: [ClosedRange<Int>] = []
        for code in 0..<1_000 where accepts(status: code) {
            if let last = ranges.last, last.upperBound == code - 1 {
                ranges[ranges.count - 1] = last.lowerBound...code
            } else {
                ranges.append(code...code)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ", ")
    }
}

/// The messages of a run on WebSockets (RFC 6455): a request of the run is a message, and its answer is the next
/// message of the server.
///
/// - message: The content of a message, in UTF-8 unless it is binary. It may have places to fill in.
/// - expectsEcho: Whether an answer that differs from the message is a failure.
package typealias WebSocketOptions = (message: [UInt8], isBinary: Bool, expectsEcho: Bool)
