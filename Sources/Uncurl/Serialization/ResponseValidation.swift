public import URLLoading

/// Which status codes and content types are acceptable.
public struct ResponseValidation: Sendable {
    /// Nil: any.
    public var statusCodes: Set<Int>?
    /// Media types such as `application/json`, `image/*`, `*/*`; nil: any.
    public var contentTypes: [String]?

    public init(statusCodes: Set<Int>? = Set(200..<300), contentTypes: [String]? = nil) {
        self.statusCodes = statusCodes
        self.contentTypes = contentTypes
    }

    /// What is wrong with the answer; nil: nothing.
    public func failure(of answer: ReceivedResponse) -> ValidationFailure? { nil }
}

/// An answer that ``ResponseValidation`` did not accept. It carries all of the answer.
public struct ValidationFailure: Error, Sendable {
    public let response: HTTPURLResponse
    public let data: Data
}
