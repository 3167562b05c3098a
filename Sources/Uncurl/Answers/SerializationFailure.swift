public import URLLoading

/// The failure to make a value of an answer's content. It carries the answer.
public struct SerializationFailure: Error, Sendable {
    /// What the serializer could not do.
    @frozen public enum Reason: Sendable {
        /// The answer has no content, and the serializer needs some.
        case empty
        /// The octets are not valid in this text encoding.
        case text(String.Encoding)
        /// The content type names a charset that is unknown, or that the C library of this machine cannot decode.
        case charset(String)
        /// The content is not a JSON text. The associated value says what is wrong, and where.
        case json(JSONFailure)
        /// The content is not a property list; ``SerializationFailure/underlying`` says why.
        case propertyList
        /// The content is well-formed but does not fit the decoded type. ``SerializationFailure/underlying`` is the
        /// decoder's error.
        case decoding
        /// The content is not an image that can be read; ``SerializationFailure/underlying`` says why.
        case image
        /// The content is not an XML document; ``SerializationFailure/underlying`` says why.
        case xml
        /// None of a compound serializer's candidates made a value.
        case unmatched
        /// The downloaded file cannot be read.
        case file
        /// There is no file, because the request was not a download.
        case noFile
        /// A serializer or preprocessor of the program's own threw.
        case other
    }

    /// What the serializer could not do.
    public let reason: Reason
    /// The head of the answer.
    public let response: URLResponse?
    /// The content; empty for a download.
    public let data: Data
    /// The file of a download.
    public let fileURL: URL?
    /// The decoder's, parser's or file system's error.
    public let underlying: (any Error)?

    /// A failure that carries its answer, for a serializer of the program's own.
    public init(_ reason: Reason, answer: ReceivedResponse, underlying: (any Error)? = nil) {
        self.reason = reason
        response = answer.response
        data = answer.data
        fileURL = answer.fileURL
        self.underlying = underlying
    }

    /// The answer's status; nil where the answer is not HTTP.
    public var status: Int? { (response as? HTTPURLResponse)?.statusCode }

    /// Wraps an error of a serializer, unless it is a serialization failure already.
    public static func wrapping(_ error: any Error, _ reason: Reason, answer: ReceivedResponse) -> SerializationFailure
    {
        error as? SerializationFailure ?? SerializationFailure(reason, answer: answer, underlying: error)
    }
}

extension SerializationFailure: CustomStringConvertible, LocalizedError {
    public var description: String {
        let place = response?.url.map { " (\(status.map { "status \($0) " } ?? "")from \($0.redacted))" }
        return words + (place ?? "")
    }

    public var errorDescription: String? { description }

    var words: String {
        let cause = underlying.map { ": \($0.sentence)" } ?? ""
        return switch reason {
        case .empty: "the answer has no content"
        case .text(let encoding): "the content is not text in \(encoding)"
        case .charset(let name): "the charset \(name) of the content is not known"
        case .json(let failure): "\(failure)"
        case .propertyList: "the content is not a property list\(cause)"
        case .decoding: "the content does not fit the decoded type\(cause)"
        case .image: "the content is not an image that can be read\(cause)"
        case .xml: "the content is not an XML document\(cause)"
        case .unmatched: "no serializer made a value of the content\(cause)"
        case .file: "the downloaded file cannot be read\(cause)"
        case .noFile: "there is no downloaded file"
        case .other: "the content could not be made into a value\(cause)"
        }
    }
}

/// The failure as an `NSError` with AFNetworking's domain and keys.
extension SerializationFailure: CustomNSError {
    public static var errorDomain: String { ValidationFailure.errorDomain }

    /// `cannotDecodeContentData` (-1016), or `cannotOpenFile`.
    public var errorCode: Int {
        switch reason {
        case .empty, .text, .charset, .json, .propertyList, .decoding, .image, .xml, .unmatched, .other:
            URLError.cannotDecodeContentData.rawValue
        case .file, .noFile: URLError.cannotOpenFile.rawValue
        }
    }

    public var errorUserInfo: [String: Any] {
        var info = ValidationFailure.info(description, response, data)
        if let underlying { info[NSUnderlyingErrorKey] = underlying as NSError }
        return info
    }
}
