public import URLLoading
internal import UncurlText

/// Which answers are acceptable, by their status codes, their content types, and checks of the program's own.
///
/// An answer that is not HTTP (a file's, a data URL's) passes the checks of the status and of the content type.
public struct ResponseValidation: Sendable {
    /// A check of the program's own. It throws an error that says what is wrong with the answer.
    public typealias Check = @Sendable (ReceivedResponse) throws -> Void

    /// The status codes that are acceptable. Nil: any.
    public var statusCodes: Set<Int>?
    /// The media types that are acceptable.
    public var contentTypes: AcceptableTypes
    /// Checks of the program's own, called in order up to the first that throws. For a stream they are called before
    /// the content comes, so they see the head alone.
    public var checks: [Check]

    /// Accepts the statuses 200 to 299 and any content type, without further checks, unless the arguments say
    /// otherwise.
    public init(
        statusCodes: Set<Int>? = ResponseValidation.successes,
        contentTypes: AcceptableTypes = .any,
        checks: [Check] = []
    ) {
        self.statusCodes = statusCodes
        self.contentTypes = contentTypes
        self.checks = checks
    }

    /// 200 to 299.
    public static let successes = Set(200..<300)

    /// Everything is acceptable.
    public static var none: ResponseValidation { ResponseValidation(statusCodes: nil) }

    var checksAlone: ResponseValidation { ResponseValidation(statusCodes: nil, checks: checks) }

    var withoutChecks: ResponseValidation {
        ResponseValidation(statusCodes: statusCodes, contentTypes: contentTypes)
    }

    /// Everything that is wrong with the answer; nil if it is acceptable.
    public func failure(of answer: ReceivedResponse) -> ValidationFailure? {
        var reasons: [ValidationFailure.Reason] = []
        if let response = answer.response as? HTTPURLResponse {
            if let statusCodes, !statusCodes.contains(response.statusCode) {
                reasons.append(.status(response.statusCode))
            }
            if let reason = contentTypes.reason(against: response, answer) { reasons.append(reason) }
        }
        for check in checks {
            do {
                try check(answer)
            } catch {
                reasons.append(.rejected(error))
                break
            }
        }
        return reasons.isEmpty ? nil : ValidationFailure(reasons, answer: answer)
    }
}

/// Says which media types are acceptable.
@frozen public enum AcceptableTypes: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// Every type is acceptable, and so is an answer without a type.
    case any
    /// Media types or ranges such as `application/json`, `image/*`, `*/*`. Parameters and case are ignored.
    /// `application/json` also matches `application/problem+json` (RFC 6839).
    case listed([String])
    /// The media types of the request's Accept field; any type where the request has no such field.
    case asRequested

    public init(arrayLiteral elements: String...) { self = .listed(elements) }

    /// Why the type is not acceptable; nil where it is. An answer without content passes whatever its type.
    fileprivate func reason(
        against response: HTTPURLResponse,
        _ answer: ReceivedResponse
    ) -> ValidationFailure.Reason? {
        let acceptable: [String]
        switch self {
        case .any: return nil
        case .listed(let types): acceptable = types
        case .asRequested:
            guard let field = answer.request?.value(forHTTPHeaderField: "Accept") else { return nil }
            acceptable = MediaRange.accepted(by: field)
        }
        let type = response.mimeType
        // Nearly every answer has one of these very types.
        if let type, MediaRange.isPlain(type), acceptable.contains(type) { return nil }
        let ranges = acceptable.compactMap { MediaRange($0) }
        let isAcceptable =
            if let type = type.flatMap({ MediaRange($0) }) {
                ranges.contains { $0.contains(type) }
            } else {
                ranges.contains(where: \.isEverything)
            }
        return isAcceptable || !answer.hasContent ? nil : .contentType(type, acceptable: acceptable)
    }
}

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
        let place = response?.url.map { " from \($0.redacted)" } ?? ""
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
        case .rejected(let error): error.sentence
        }
    }

    fileprivate var isStatus: Bool {
        if case .status = self { true } else { false }
    }
}

/// The failure as an `NSError` with AFNetworking's domain, codes and keys.
extension ValidationFailure: CustomNSError {
    public static var errorDomain: String { "com.alamofire.error.serialization.response" }

    /// `badServerResponse` (-1011) for a status, else `cannotDecodeContentData` (-1016).
    public var errorCode: Int {
        (reasons.contains(where: \.isStatus) ? URLError.badServerResponse : .cannotDecodeContentData).rawValue
    }

    /// If there are several reasons, the underlying error holds those after the first. Otherwise it is
    /// ``serialization``, which may be nil.
    public var errorUserInfo: [String: Any] {
        var info = Self.info(description, response, data)
        if reasons.count > 1 {
            let answer = ReceivedResponse(response: response, data: data, fileURL: fileURL)
            let rest = ValidationFailure(Array(reasons.dropFirst()), answer: answer, serialization: serialization)
            info[NSUnderlyingErrorKey] = rest as NSError
        } else if let serialization {
            info[NSUnderlyingErrorKey] = serialization as NSError
        }
        return info
    }

    /// The user info of an answer's failure, under AFNetworking's keys.
    static func info(_ description: String, _ answer: URLResponse?, _ body: Data) -> [String: Any] {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: description, "com.alamofire.serialization.response.error.data": body,
        ]
        if let answer { info["com.alamofire.serialization.response.error.response"] = answer }
        if let url = answer?.url { info[NSURLErrorFailingURLErrorKey] = url }
        return info
    }
}

/// A complete answer, as a serializer receives it.
public struct ReceivedResponse: Sendable {
    /// The request that was answered; after redirects, the last one.
    public var request: URLRequest?
    /// The head of the answer; nil where no head came.
    public var response: URLResponse?
    /// The content; empty for a download.
    public var data: Data
    /// The file of a download.
    public var fileURL: URL?

    /// An answer, for a program that calls a serializer itself.
    public init(request: URLRequest? = nil, response: URLResponse?, data: Data, fileURL: URL? = nil) {
        self.request = request
        self.response = response
        self.data = data
        self.fileURL = fileURL
    }

    /// The status; nil where the answer is not HTTP.
    public var status: Int? { (response as? HTTPURLResponse)?.statusCode }

    var hasContent: Bool {
        guard let fileURL else { return !data.isEmpty }
        let size = try? FileManager.default.attributesOfItem(atPath: fileURL.path)[.size] as? NSNumber
        return size?.int64Value != 0
    }

    /// The encoding that the charset of the content type names; nil where there is no charset or its name is unknown.
    public var charset: String.Encoding? { response?.textEncodingName.flatMap(String.Encoding.init(charset:)) }

    /// The same, but a name that is unknown is an error.
    package func knownCharset() throws(SerializationFailure) -> String.Encoding? {
        guard let charset else {
            guard let name = response?.textEncodingName else { return nil }
            throw SerializationFailure(.charset(name), answer: self)
        }
        return charset
    }

    /// The content, from memory or from the file. A file is mapped: only the pages that are read come into memory. As
    /// with every mapping, the file must not be shortened while the content is in use. The file may be removed.
    public func content() throws(SerializationFailure) -> Data {
        guard let fileURL else { return data }
        // Foundation of Swift 6.3 leaks a page for each empty file that it reads.
        guard hasContent else { return Data() }
        do {
            // On Linux, `mappedIfSafe` reads the whole file.
            return try Data(contentsOf: fileURL, options: .alwaysMapped)
        } catch {
            throw SerializationFailure(.file, answer: self, underlying: error)
        }
    }
}

/// Says which answers a serializer accepts without content.
public struct EmptyContentRule: Sendable, Hashable {
    /// Answers to these methods may have no content.
    public var methods: Set<HTTPMethod>
    /// Answers with these statuses may have no content.
    public var statusCodes: Set<Int>
    /// Whether every answer may have no content, whatever its method and status.
    public var allowsAny: Bool

    /// A rule for answers without content. By default, those that have none by definition: answers to HEAD, 204 (RFC
    /// 9110 §6.4.1) and 205 (§15.3.6).
    public init(methods: Set<HTTPMethod> = [.head], statusCodes: Set<Int> = [204, 205], allowsAny: Bool = false) {
        self.methods = methods
        self.statusCodes = statusCodes
        self.allowsAny = allowsAny
    }

    /// Answers to HEAD, and answers with the status 204 or 205: they have no content by definition.
    public static var whereThereIsNone: EmptyContentRule { EmptyContentRule() }
    /// Every answer may have no content.
    public static var always: EmptyContentRule { EmptyContentRule(allowsAny: true) }

    /// Whether this answer may have no content.
    public func allows(_ answer: ReceivedResponse) -> Bool {
        if allowsAny { return true }
        if let status = answer.status, statusCodes.contains(status) { return true }
        return methods.contains(HTTPMethod(rawValue: (answer.request?.httpMethod ?? "GET").uppercased()))
    }
}

/// Changes content before a serializer reads it.
public struct ContentPreprocessor: Sendable {
    private let body: @Sendable (Data) throws -> Data

    /// A preprocessor made of a closure. What it throws becomes a ``SerializationFailure``.
    public init(_ body: @escaping @Sendable (Data) throws -> Data) {
        self.body = body
    }

    /// Applies the closure.
    public func callAsFunction(_ content: Data) throws -> Data { try body(content) }

    /// The content as it came.
    public static var passthrough: ContentPreprocessor { ContentPreprocessor { $0 } }

    /// Removes the guard that keeps a JSON text from being run as a script: `)]}',` and the line end after it.
    public static var withoutScriptGuard: ContentPreprocessor {
        ContentPreprocessor { content in
            let guardText = Data(")]}',".utf8)
            guard content.starts(with: guardText) else { return content }
            let rest = content.dropFirst(guardText.count)
            return Data(rest.first == UInt8(ascii: "\n") ? rest.dropFirst() : rest)
        }
    }
}

extension ContentPreprocessor: CustomStringConvertible {
    public var description: String { described(Self.self, [:]) }
}

/// A type with a value for answers without content.
public protocol EmptyValue {
    /// The value of an answer without content.
    static var emptyValue: Self { get }
}

/// The value of an answer without content, and of one whose content does not matter.
public struct EmptyResponse: EmptyValue, Codable, Hashable, Sendable {
    /// The value, which is the same for every answer.
    public init() {}
    public static var emptyValue: EmptyResponse { EmptyResponse() }
}

extension Optional: EmptyValue {
    public static var emptyValue: Wrapped? { nil }
}
