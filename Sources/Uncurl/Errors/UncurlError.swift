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

/// Facts of a failure that do not depend on its case. For ``UncurlError/retry(_:original:)``, the original error
/// provides them.
extension UncurlError {
    /// The status of the answer; nil where no HTTP answer came.
    public var statusCode: Int? { (response as? HTTPURLResponse)?.statusCode }

    /// The head of the answer that was refused or could not be read; nil where none came.
    public var response: URLResponse? {
        switch self {
        case .validation(let failure): failure.response
        case .serialization(let failure): failure.response
        case .retry(_, let original): original.response
        case .invalidURL, .parameters, .header, .multipart, .compression, .adaptation, .trust,
            .challenge,
            .output, .file, .loading, .transport, .cancelled, .sessionInvalidated, .bodyNotReplayable:
            nil
        }
    }

    /// The content of that answer, such as an error document. Nil where no answer came; empty for a download whose
    /// content is in a file.
    public var responseData: Data? {
        switch self {
        case .validation(let failure): failure.data
        case .serialization(let failure): failure.data
        case .retry(_, let original): original.responseData
        case .invalidURL, .parameters, .header, .multipart, .compression, .adaptation, .trust,
            .challenge,
            .output, .file, .loading, .transport, .cancelled, .sessionInvalidated, .bodyNotReplayable:
            nil
        }
    }

    /// The failure as a `URLError`; nil where `URLSession` has no such error, such as for an answer's status.
    public var urlError: URLError? {
        switch self {
        case .transport(let error): error
        case .cancelled: URLError(.cancelled)
        case .trust(let failure): failure.urlError()
        case .invalidURL(let text, _): URLError(.badURL, userInfo: facts(["NSErrorFailingURLStringKey": text]))
        case .bodyNotReplayable: URLError(.requestBodyStreamExhausted, userInfo: facts())
        case .challenge(let error), .adaptation(let error): error as? URLError ?? (error as? UncurlError)?.urlError
        case .retry(_, let original): original.urlError
        case .parameters, .header, .multipart, .compression, .validation, .serialization, .output,
            .file, .loading,
            .sessionInvalidated:
            nil
        }
    }

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
    public var underlying: (any Error)? {
        switch self {
        case .parameters(let failure): failure
        case .multipart(let failure): failure
        case .compression(let failure): failure
        case .validation(let failure): failure
        case .serialization(let failure): failure
        case .trust(let failure): failure
        case .output(let failure): failure
        case .file(let failure): failure
        case .transport(let error): error
        case .adaptation(let error), .challenge(let error), .loading(let error), .retry(let error, _): error
        case .invalidURL, .header, .cancelled, .sessionInvalidated, .bodyNotReplayable: nil
        }
    }

    private func facts(_ more: [String: Any] = [:]) -> [String: Any] {
        more.merging([NSLocalizedDescriptionKey: errorDescription ?? ""]) { first, _ in first }
    }
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
        switch self {
        case .validation(let failure): failure as NSError
        case .serialization(let failure): failure as NSError
        case .parameters(let failure): failure as NSError
        case .header(let name): ParameterFailure(.headerValue(name: name)) as NSError
        case .retry(_, let original): original.nsError
        case .loading(let error): error as NSError
        default: (urlError ?? URLError(other.code, userInfo: facts(other.facts))) as NSError
        }
    }

    /// The nearest `URLError` code, for a failure that neither library has.
    private var other: (code: URLError.Code, facts: [String: Any]) {
        let beneath: [String: Any] = underlying.map { [NSUnderlyingErrorKey: $0 as NSError] } ?? [:]
        return switch self {
        case .multipart, .compression: (.cannotOpenFile, beneath)
        case .challenge, .trust: (.userAuthenticationRequired, beneath)
        case .output: (.cannotWriteToFile, beneath)
        case .file: (.cannotMoveFile, beneath)
        case .sessionInvalidated: (.cancelled, beneath)
        default: (.unknown, beneath)
        }
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
    public var description: String {
        switch self {
        case .invalidURL(let text, let reason): "“\(text)” cannot be loaded: \(reason)"
        case .parameters(let failure): failure.description
        case .header(let name):
            "the header field \(name.debugDescription) cannot be sent: its name or its value is malformed"
        case .multipart(let failure): failure.description
        case .compression(let failure): failure.description
        case .adaptation(let error): "an interceptor kept the request from being sent: \(ErrorText.of(error))"
        case .validation(let failure): failure.description
        case .serialization(let failure): failure.description
        case .trust(let failure): failure.description
        case .challenge(let error): "a hook answered the server's challenge with an error: \(ErrorText.of(error))"
        case .output(let failure): failure.description
        case .file(let failure): failure.description
        case .loading(let error): ErrorText.of(error)
        case .transport(let error): ErrorText.of(error)
        case .cancelled: "the request was cancelled"
        case .sessionInvalidated: "the manager has been invalidated and sends nothing more"
        case .retry(let error, let original): "\(ErrorText.of(error)); before that, \(ErrorText.of(original))"
        case .bodyNotReplayable: "the request's content has to be sent again and can be read only once"
        }
    }

    /// Where the request stopped: before it was sent, on the network, or at its answer.
    public var failureReason: String? {
        switch self {
        case .invalidURL, .parameters, .header, .compression, .adaptation:
            "The request could not be built; nothing was sent."
        case .multipart: "The form could not be sent."
        case .validation: "The server answered, and the answer is not acceptable."
        case .serialization: "The server answered, and its content is not what was asked for."
        case .trust: "The server's certificate was not accepted; no request was sent to it."
        case .challenge: "The program refused the server's challenge."
        case .output: "The content could not be written to the output stream."
        case .file: "The download is complete and could not be moved to its place."
        case .loading: "A loading class of the program failed the request."
        case .transport(let error) where error.file != nil: "The file could not be read."
        case .transport(let error) where error.isUnsent: "The server could not be connected to; nothing was sent."
        case .transport: "The request or its answer was lost on the network."
        case .cancelled: "The program cancelled the request."
        case .sessionInvalidated: "The manager's session is closed."
        case .retry: "The request failed, and the interceptor that was asked for a retry gave an error of its own."
        case .bodyNotReplayable: "The request had to be sent again, after a redirect, a challenge or a lost connection."
        }
    }

    /// What helps, where that is certain; nil elsewhere.
    public var recoverySuggestion: String? {
        switch self {
        case .invalidURL:
            "Write characters that a URL may not have as %XX, and give the manager a base URL for relative references."
        case .bodyNotReplayable:
            "Give the content as data, as a file, or as a closure that makes a new stream each time."
        case .sessionInvalidated: "Make a new manager, or invalidate the old one with resettingSession: true."
        case .file(let failure) where failure.obstacle == .file:
            "Choose another place, or allow the replacement of a file with removePreviousFile."
        case .parameters(let failure):
            if case .notKeyed = failure.reason { "Give the parameters names, or send them as JSON." } else { nil }
        case .retry(_, let original): original.recoverySuggestion
        case .transport where isTimeout: "Try again later, or allow a longer time."
        case .transport where isConnectivity: "Check the network connection, and try again."
        case .header, .multipart, .compression, .adaptation, .validation, .serialization, .trust, .challenge, .output,
            .file, .loading,
            .transport, .cancelled:
            nil
        }
    }
}
