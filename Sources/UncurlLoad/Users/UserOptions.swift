package import UncurlText

/// The actions of a virtual user beside sending the same request again.
package struct UserOptions: Sendable {
    /// Whether each user keeps the cookies that it receives.
    package var keepsCookies = false
    /// The cookies that each user has from the start, where it keeps cookies.
    package var cookies: [GivenCookie] = []
    /// The number of redirections in a row that are followed.
    package var redirects = 0
    package var checks = ResponseChecks()
    /// The places to fill in, in the texts of the request and of the inputs.
    package var slots = TemplateSlots()
    /// Makes each user's script, by the user's number. A script decides from each response what comes next.
    package var script: (@Sendable (Int) -> UserScript)?
    /// What a user does in a visit, as an asynchronous function in place of ``script``.
    package var visit: (@Sendable (LoadUser) async throws -> Void)?
    /// The names of the requests of scripts and visits in the figures.
    package var names: [String] = []

    package init() {}

    /// Whether a user has none of these actions.
    package var isPlain: Bool { !keepsCookies && redirects == 0 && checks.isEmpty && slots.isEmpty && !isScripted }

    /// Whether responses are read, not only counted.
    var inspects: Bool { keepsCookies || redirects > 0 || !checks.isEmpty || isScripted }

    /// Whether a program decides what comes next.
    package var isScripted: Bool { script != nil || visit != nil }
}

/// The conditions that a response must meet for its request to be a success.
package struct ResponseChecks: Hashable, Sendable {
    /// The accepted status codes. Nil for 2xx and 3xx.
    package private(set) var statuses: [Bool]?
    /// The names of required fields, and their values if they are given.
    package private(set) var headers: [Pair] = []
    /// The bytes that must occur in the content.
    package private(set) var body: ByteSearch?
    /// The same as text.
    private(set) var bodyText = ""

    package struct Pair: Hashable, Sendable {
        var name: String
        var value: String?

        package init(name: String, value: String?) { (self.name, self.value) = (name, value) }
    }

    package init(statuses: [Bool]?, headers: [Pair], body: [UInt8]?) {
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
package struct WebSocketOptions: Hashable, Sendable {
    /// The content of a message, in UTF-8 unless ``isBinary``. It may have places to fill in.
    package let message: [UInt8]
    package let isBinary: Bool
    /// Whether an answer that differs from the message is a failure.
    package let expectsEcho: Bool

    /// The largest answer, in bytes. It equals ``Files/bodyLimit``.
    package static let answerLimit = 256 << 20

    package init(message: [UInt8], isBinary: Bool, expectsEcho: Bool) {
        (self.message, self.isBinary, self.expectsEcho) = (message, isBinary, expectsEcho)
    }
}
