public import URLLoading

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
