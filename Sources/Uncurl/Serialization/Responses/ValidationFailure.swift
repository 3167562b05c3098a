public import URLLoading

/// An answer that ``ResponseValidation`` did not accept. It carries all of the answer.
public struct ValidationFailure: Error, Sendable {
    public enum Reason: Sendable {
        case status(Int)
        /// Nil: the answer tells no type.
        case contentType(String?, acceptable: [String])
        /// A check of the user's own threw.
        case rejected(any Error)
    }

    /// Everything that is wrong, the status first.
    public let reasons: [Reason]
    public let response: URLResponse?
    /// The body; empty for a download.
    public let data: Data
    /// Where a download lies.
    public let fileURL: URL?
    /// What is wrong with the content besides. Nil: it is a value, which the response carries.
    public var serialization: SerializationFailure?

    public init(_ reasons: [Reason], answer: ReceivedResponse, serialization: SerializationFailure? = nil) {
        self.reasons = reasons
        response = answer.response
        data = answer.data
        fileURL = answer.fileURL
        self.serialization = serialization
    }

    public var status: Int? { (response as? HTTPURLResponse)?.statusCode }
}
