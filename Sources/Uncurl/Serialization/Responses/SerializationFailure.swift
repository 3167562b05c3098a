public import URLLoading

/// An answer whose content could not be made into a value. It carries the answer.
public struct SerializationFailure: Error, Sendable {
    public enum Reason: Sendable {
        /// There is no content, and without content there is no value.
        case empty
        /// The octets are no text in that encoding; nil: the charset the server names is not known here.
        case text(String.Encoding?, charset: String?)
        case json(JSONFailure)
        case propertyList
        case decoding
        case image(ImageFailure)
        /// The downloaded file cannot be read.
        case file
        /// There is no file: this was no download.
        case noFile
        /// A serializer or preprocessor of the user's own threw.
        case other
    }

    public let reason: Reason
    public let response: URLResponse?
    /// The body; empty for a download.
    public let data: Data
    /// Where a download lies.
    public let fileURL: URL?
    public let underlying: (any Error)?

    public init(_ reason: Reason, answer: ReceivedResponse, underlying: (any Error)? = nil) {
        self.reason = reason
        response = answer.response
        data = answer.data
        fileURL = answer.fileURL
        self.underlying = underlying
    }

    public var status: Int? { (response as? HTTPURLResponse)?.statusCode }
}
