public import URLLoading

/// Why a request failed. Each case carries the facts of its failure.
///
/// The facts that programs need most are properties of every case: ``statusCode``, ``responseData``, ``urlError``,
/// ``isCancelled``, ``isTimeout``, ``isConnectivity``. ``nsError`` is the error that AFNetworking and `URLSession`
/// give, with their domains, codes and keys.
@frozen public indirect enum UncurlError: Error, Sendable {
    /// A string is not a URL, or is a URL that this manager does not load. Nothing has been sent.
    case invalidURL(String, reason: String)
    /// The parameters cannot be put into the request; nothing has been sent.
    case parameters(ParameterFailure)
    /// A header field cannot be sent: its name is no token, its value holds CR, LF or NUL, or its value is a negative
    /// length. Nothing has been sent.
    case header(name: String)
    /// The form cannot be sent, or a part of it became unreadable while it was sent.
    case multipart(MultipartFailure)
    /// The content cannot be compressed as the options ask. Nothing has been sent.
    case compression(CompressionFailure)
    /// An adapter threw; nothing has been sent.
    case adaptation(any Error)
    /// The answer came, but its status or its content type is not acceptable, or a check of the program's own refused
    /// it.
    case validation(ValidationFailure)
    /// The answer came, but its content could not be made into a value.
    case serialization(SerializationFailure)
    /// The server's certificate chain was not accepted; the failure names the rule.
    case trust(TrustFailure)
    /// A hook answered a challenge with an error.
    case challenge(any Error)
    /// The content cannot be written to the operation's output stream.
    case output(OperationFailure)
    /// The download is complete, but its file could not be put at its place.
    case file(FileFailure)
    /// A loading class of the program (`URLProtocol`) failed the request with an error of its own.
    case loading(any Error)
    /// The network or this machine failed.
    case transport(URLError)
    /// The program cancelled the request, or the Swift task that waited for it.
    case cancelled
    /// The manager has been invalidated.
    case sessionInvalidated
    /// A retrier returned an error of its own in place of the attempt's.
    case retry(any Error, original: UncurlError)
    /// The content must be sent again and can be read only once.
    case bodyNotReplayable
}

extension UncurlError {
    /// All that is said of a case. Each text and error is made when it is asked for.
    private struct Row {
        /// For people. It may contain URLs.
        let sentence: () -> String
        /// For shared logs: without URLs, which may hold secrets. Nil where the sentence has none.
        let log: () -> String?
        /// Where the request stopped.
        let reason: String
        /// What helps, where that is certain.
        let help: () -> String?
        let underlying: (any Error)?
        let response: URLResponse?
        let data: () -> Data?
        /// The failure as `URLSession` has it.
        let urlError: () -> URLError?
        /// The failure as an `NSError` of another domain.
        let other: () -> NSError?
        /// The nearest code of `NSURLErrorDomain`, for a failure that neither library has.
        let code: URLError.Code

        init(
            _ sentence: @autoclosure @escaping () -> String,
            log: @autoclosure @escaping () -> String? = nil,
            reason: String,
            help: @autoclosure @escaping () -> String? = nil,
            underlying: (any Error)? = nil,
            response: URLResponse? = nil,
            data: @autoclosure @escaping () -> Data? = nil,
            urlError: @autoclosure @escaping () -> URLError? = nil,
            other: @autoclosure @escaping () -> NSError? = nil,
            code: URLError.Code = .unknown
        ) {
            (self.sentence, self.log, self.reason, self.help) = (sentence, log, reason, help)
            (self.underlying, self.response, self.data) = (underlying, response, data)
            (self.urlError, self.other, self.code) = (urlError, other, code)
        }

        /// Of a failure that has all the words, and a code where it is no `NSError` of its own.
        init(
            _ failure: some Error & CustomStringConvertible,
            reason: String,
            help: String? = nil,
            code: URLError.Code? = nil
        ) {
            self.init(
                failure.description,
                reason: reason,
                help: help,
                underlying: failure,
                other: code == nil ? failure as NSError : nil,
                code: code ?? .unknown
            )
        }
    }

    private static let unbuilt = "The request could not be built; nothing was sent."

    private var row: Row {
        switch self {
        case .invalidURL(let text, let reason):
            return Row(
                "“\(text)” cannot be loaded: \(reason)",
                log: "no URL to load: \(reason)",
                reason: Self.unbuilt,
                help:
                    "Write characters that a URL may not have as %XX, and give the manager a base URL for relative references.",
                urlError: URLError(.badURL, userInfo: facts(["NSErrorFailingURLStringKey": text]))
            )
        case .parameters(let failure):
            let lacksNames = if case .notKeyed = failure.reason { true } else { false }
            let help = lacksNames ? "Give the parameters names, or send them as JSON." : nil
            return Row(failure, reason: Self.unbuilt, help: help)
        case .header(let name):
            return Row(
                "the header field \(name.debugDescription) cannot be sent: its name or its value is malformed",
                log: "header field \(name.debugDescription) cannot be sent",
                reason: Self.unbuilt,
                other: ParameterFailure(.headerValue(name: name)) as NSError
            )
        case .multipart(let failure):
            return Row(failure, reason: "The form could not be sent.", code: .cannotOpenFile)
        case .compression(let failure):
            return Row(failure, reason: Self.unbuilt, code: .cannotOpenFile)
        case .adaptation(let error):
            return Row(
                "an interceptor kept the request from being sent: \(error.sentence)",
                log: "an adapter threw: \(Self.words(of: error))",
                reason: Self.unbuilt,
                underlying: error,
                urlError: Self.urlError(beneath: error)
            )
        case .validation(let failure):
            return Row(
                failure.description,
                log: failure.words,
                reason: "The server answered, and the answer is not acceptable.",
                underlying: failure,
                response: failure.response,
                data: failure.data,
                other: failure as NSError
            )
        case .serialization(let failure):
            return Row(
                failure.description,
                log: failure.words,
                reason: "The server answered, and its content is not what was asked for.",
                underlying: failure,
                response: failure.response,
                data: failure.data,
                other: failure as NSError
            )
        case .trust(let failure):
            return Row(
                failure.description,
                reason: "The server's certificate was not accepted; no request was sent to it.",
                underlying: failure,
                urlError: failure.urlError()
            )
        case .challenge(let error):
            return Row(
                "a hook answered the server's challenge with an error: \(error.sentence)",
                log: "a challenge was answered with an error: \(Self.words(of: error))",
                reason: "The program refused the server's challenge.",
                underlying: error,
                urlError: Self.urlError(beneath: error),
                code: .userAuthenticationRequired
            )
        case .output(let failure):
            return Row(
                failure,
                reason: "The content could not be written to the output stream.",
                code: .cannotWriteToFile
            )
        case .file(let failure):
            return Row(
                failure.description,
                log: "the download could not be put in its place: \(failure.cause)",
                reason: "The download is complete and could not be moved to its place.",
                help: failure.obstacle == .file
                    ? "Choose another place, or allow the replacement of a file with removePreviousFile." : nil,
                underlying: failure,
                code: .cannotMoveFile
            )
        case .loading(let error):
            return Row(
                error.sentence,
                log: "a loading class failed: \(Self.words(of: error))",
                reason: "A loading class of the program failed the request.",
                underlying: error,
                other: error as NSError
            )
        case .transport(let error):
            return Row(
                error.sentence,
                log: Self.words(of: error),
                reason: error.file != nil
                    ? "The file could not be read."
                    : error.isUnsent
                        ? "The server could not be connected to; nothing was sent."
                        : "The request or its answer was lost on the network.",
                help: isTimeout
                    ? "Try again later, or allow a longer time."
                    : isConnectivity ? "Check the network connection, and try again." : nil,
                underlying: error,
                urlError: error
            )
        case .cancelled:
            return Row(
                "the request was cancelled",
                log: "cancelled",
                reason: "The program cancelled the request.",
                urlError: URLError(.cancelled)
            )
        case .sessionInvalidated:
            return Row(
                "the manager has been invalidated and sends nothing more",
                log: "the manager has been invalidated",
                reason: "The manager's session is closed.",
                help: "Make a new manager, or invalidate the old one with resettingSession: true.",
                code: .cancelled
            )
        case .retry(let error, let original):
            return Row(
                "\(error.sentence); before that, \(original.sentence)",
                log: "\(Self.words(of: error)), after: \(original.words)",
                reason: "The request failed, and the interceptor that was asked for a retry gave an error of its own.",
                help: original.recoverySuggestion,
                underlying: error,
                response: original.response,
                data: original.responseData,
                urlError: original.urlError,
                other: original.nsError
            )
        case .bodyNotReplayable:
            return Row(
                "the request's content has to be sent again and can be read only once",
                log: "the content must be sent again and can be read only once",
                reason: "The request had to be sent again, after a redirect, a challenge or a lost connection.",
                help: "Give the content as data, as a file, or as a closure that makes a new stream each time.",
                urlError: URLError(.requestBodyStreamExhausted, userInfo: facts())
            )
        }
    }

    private static func urlError(beneath error: any Error) -> URLError? {
        error as? URLError ?? (error as? UncurlError)?.urlError
    }

    private func facts(_ more: [String: Any] = [:]) -> [String: Any] {
        more.merging([NSLocalizedDescriptionKey: description]) { first, _ in first }
    }

    /// A description for shared logs. It contains no URLs, because URLs may hold secrets.
    var words: String {
        let row = row
        return row.log() ?? row.sentence()
    }

    /// A description without a URL: the user info of a network error, which contains the URL, is left out.
    private static func words(of error: any Error) -> String {
        switch error {
        case let error as UncurlError: error.words
        case let error as URLError: "\(error.sentence) (\(error.code.rawValue))"
        default: "\(error)"
        }
    }

    /// The kind of error, for the label of a metric: each distinct value is a metric of its own.
    func type(_ status: Int?) -> String {
        switch self {
        case .validation: status.map(String.init) ?? "none"
        case .cancelled: "cancelled"
        case .transport: "transport"
        case .trust: "trust"
        default: "other"
        }
    }
}

/// Facts of a failure that do not depend on its case. For ``UncurlError/retry(_:original:)``, the original error
/// provides them.
extension UncurlError {
    /// The status of the answer; nil where no HTTP answer came.
    public var statusCode: Int? { (response as? HTTPURLResponse)?.statusCode }

    /// The head of the answer that was refused or could not be read; nil where none came.
    public var response: URLResponse? { row.response }

    /// The content of that answer, such as an error document. Nil where no answer came; empty for a download whose
    /// content is in a file.
    public var responseData: Data? { row.data() }

    /// The failure as a `URLError`; nil where `URLSession` has no such error, such as for an answer's status.
    public var urlError: URLError? { row.urlError() }

    /// Whether the program ended the request: by `cancel`, or by cancelling the Swift task that waited.
    public var isCancelled: Bool {
        if case .adaptation(let error) = self, error is _Concurrency.CancellationError { return true }
        return urlError?.code == .cancelled
    }

    /// Whether a time limit ended the request.
    public var isTimeout: Bool { urlError?.code == .timedOut }

    /// Whether the network or the route to the host was missing. The same request may succeed later. A time limit does
    /// not count.
    public var isConnectivity: Bool {
        switch urlError?.code {
        case .notConnectedToInternet?, .networkConnectionLost?, .cannotConnectToHost?, .cannotFindHost?,
            .dnsLookupFailed?,
            .dataNotAllowed?, .internationalRoamingOff?, .callIsActive?:
            true
        default: false
        }
    }

    /// The underlying error; nil where there is none.
    public var underlying: (any Error)? { row.underlying }
}

/// The failure as an `NSError`.
extension UncurlError: CustomNSError {
    /// The failure as an `NSError` with the domain, the code and the keys that programs know from other libraries:
    /// `NSURLErrorDomain` (−999 for a cancelled request, −1001 for a time limit, −1202 with the server's trust), or
    /// AFNetworking's domains of request and response serialization (−1011 for a status, −1016 for a content type or
    /// content), with the response and its content in the user info. The error of a program's own loading class is that
    /// error.
    ///
    /// `error as NSError` has the same code and user info; its domain is ``errorDomain`` for every case, as Swift has
    /// one domain for a type.
    public var nsError: NSError {
        let row = row
        if let other = row.other() { return other }
        let beneath: [String: Any] = row.underlying.map { [NSUnderlyingErrorKey: $0 as NSError] } ?? [:]
        return (row.urlError() ?? URLError(row.code, userInfo: facts(beneath))) as NSError
    }

    /// `NSURLErrorDomain`, in which every code of ``nsError`` has a meaning.
    public static var errorDomain: String { NSURLErrorDomain }

    public var errorCode: Int { nsError.code }

    public var errorUserInfo: [String: Any] {
        var info = nsError.userInfo
        info[NSLocalizedDescriptionKey] = errorDescription
        info[NSLocalizedFailureReasonErrorKey] = failureReason
        info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        info[NSUnderlyingErrorKey] = info[NSUnderlyingErrorKey] ?? nsError
        return info
    }
}

extension UncurlError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    /// A description for people. It may contain URLs.
    public var description: String { row.sentence() }

    /// Where the request stopped: before it was sent, on the network, or at its answer.
    public var failureReason: String? { row.reason }

    /// What helps, where that is certain; nil elsewhere.
    public var recoverySuggestion: String? { row.help() }
}
