public import URLLoading

/// The failure of an answer that ``ResponseValidation`` did not accept. It carries the whole answer.
public struct ValidationFailure: Error, Sendable {
    /// The most content that streams and downloads keep, in bytes. An error document is shorter.
    static let contentLimit = 1 << 20

    /// What is not acceptable.
    @frozen public enum Reason: Sendable {
        /// The status is not among the acceptable ones.
        case status(Int)
        /// The content type is not acceptable. Nil: the answer names no type.
        case contentType(String?, acceptable: [String])
        /// A check of the program's own threw.
        case rejected(any Error)
    }

    /// All reasons, the status first.
    public let reasons: [Reason]
    /// The head of the answer.
    public let response: URLResponse?
    /// The content of the answer. A stream, and a download with a destination, keep at most a mebibyte of it, any other
    /// download nothing.
    public let data: Data
    /// The file of a download without a destination.
    public let fileURL: URL?
    /// Why the serializer could not make a value of the content. Nil where it made one, which the ``Response`` carries.
    public var serialization: SerializationFailure?

    /// A failure that carries its answer, for a check of the program's own.
    public init(_ reasons: [Reason], answer: ReceivedResponse, serialization: SerializationFailure? = nil) {
        self.reasons = reasons
        response = answer.response
        data = answer.data
        fileURL = answer.fileURL
        self.serialization = serialization
    }

    /// The status that came, acceptable or not.
    public var status: Int? { (response as? HTTPURLResponse)?.statusCode }
}

extension ValidationFailure: CustomStringConvertible, LocalizedError {
    public var description: String {
        let place = response?.url.map { " from \(URLText.redacted($0))" } ?? ""
        if reasons.contains(where: \.isStatus) { return words + place }
        return words + place + (serialization.map { "; besides, \($0.words)" } ?? "")
    }

    /// The reasons without the URL. A refused status is the whole reason: that its page is of another type, or does not
    /// fit, says nothing of the answer that was wanted.
    var words: String {
        let told = reasons.first(where: \.isStatus).map { [$0] } ?? reasons
        return told.map(\.words).joined(separator: ", and ")
    }

    public var errorDescription: String? { description }
}

extension ValidationFailure.Reason {
    fileprivate var words: String {
        switch self {
        case .status(let status):
            "unacceptable status \(status) (\(HTTPURLResponse.localizedString(forStatusCode: status)))"
        case .contentType(let type, let acceptable):
            "unacceptable content type \(type ?? "(none)"), not of \(acceptable.joined(separator: ", "))"
        case .rejected(let error): ErrorText.of(error)
        }
    }

    fileprivate var isStatus: Bool {
        switch self {
        case .status: true
        case .contentType, .rejected: false
        }
    }
}

/// The failure as an `NSError` with AFNetworking's domain, codes and keys.
extension ValidationFailure: CustomNSError {
    public static var errorDomain: String { ResponseErrorKeys.domain }

    /// `badServerResponse` (-1011) for a status, else `cannotDecodeContentData` (-1016).
    public var errorCode: Int {
        (reasons.contains(where: \.isStatus) ? URLError.badServerResponse : .cannotDecodeContentData).rawValue
    }

    /// If there are several reasons, the underlying error holds those after the first. Otherwise it is
    /// ``serialization``, which may be nil.
    public var errorUserInfo: [String: Any] {
        var info = ResponseErrorKeys.info(description, response, data)
        if reasons.count > 1 {
            let rest = ValidationFailure(Array(reasons.dropFirst()), self)
            info[NSUnderlyingErrorKey] = rest as NSError
        } else if let serialization {
            info[NSUnderlyingErrorKey] = serialization as NSError
        }
        return info
    }

    private init(_ reasons: [Reason], _ other: ValidationFailure) {
        self.reasons = reasons
        response = other.response
        data = other.data
        fileURL = other.fileURL
        serialization = other.serialization
    }
}

/// AFNetworking's domain and keys.
enum ResponseErrorKeys {
    static let domain = "com.alamofire.error.serialization.response"
    static let response = "com.alamofire.serialization.response.error.response"
    static let data = "com.alamofire.serialization.response.error.data"

    static func info(_ description: String, _ answer: URLResponse?, _ body: Data) -> [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description, data: body]
        if let answer { info[response] = answer }
        if let url = answer?.url { info[NSURLErrorFailingURLErrorKey] = url }
        return info
    }
}
