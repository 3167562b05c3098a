public import Foundation
internal import UncurlClient
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// The one place that turns errors of lower rooms into a `URLError`: with Foundation's code, both keys of the failing
/// URL, and the particular cause, in words, as the underlying error.
enum ErrorTranslation {
    static func error(_ error: EngineError, _ url: URL?) -> URLError {
        guard let reason = error.limitReason else { return urlError(code(error), url, error) }
        var exceeded = urlError(code(error), url, reason)
        exceeded.cause = error
        return exceeded
    }

    static func urlError(_ code: URLError.Code, _ url: URL?, _ cause: any Error) -> URLError {
        var error = urlError(code, url, underlying: UnderlyingError("\(cause)").nsError)
        error.cause = cause
        return error
    }

    /// `NSURLErrorFailingURLStringErrorKey`. It is deprecated, but programs still read it.
    private static let failingURLString = "NSErrorFailingURLStringKey"

    /// - Parameter reason: the cause, in words for people.
    static func urlError(_ code: URLError.Code, _ url: URL?, _ reason: String) -> URLError {
        urlError(code, url, underlying: UnderlyingError(reason).nsError)
    }

    /// - Parameter file: names the file that could not be opened.
    static func fileError(_ code: URLError.Code, _ url: URL?, _ file: String, _ reason: Errno) -> URLError {
        var error = urlError(code, url, "\(file): \(reason)")
        error.cause = reason
        return error
    }

    private static func urlError(_ code: URLError.Code, _ url: URL?, underlying: NSError) -> URLError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: words(code, host: url?.host), NSUnderlyingErrorKey: underlying,
        ]
        if let url {
            info[NSURLErrorFailingURLErrorKey] = url
            info[failingURLString] = url.absoluteString
        }
        return URLError(code, userInfo: info)
    }

    /// The error of a `URLProtocol` class of the program. A `URLError` gets the facts that it lacks; any other error is
    /// the task's error as it is.
    static func classError(_ error: any Error, _ url: URL?) -> any Error {
        (error as NSError).domain == NSURLErrorDomain ? self.error(error, url) : error
    }

    /// Any error as a `URLError`. A `URLError` gets the facts that it lacks; any other error becomes the underlying
    /// error of one.
    static func error(_ error: any Error, _ url: URL?) -> URLError {
        guard let given = urlError(in: error) else { return urlError(.unknown, url, error) }
        guard given.userInfo[NSURLErrorFailingURLErrorKey] == nil, let url else { return given }
        var info = given.userInfo
        info[NSURLErrorFailingURLErrorKey] = url
        info[failingURLString] = url.absoluteString
        return URLError(given.code, userInfo: info)
    }

    private static func urlError(in error: any Error) -> URLError? {
        if let error = error as? URLError { return error }
        let known = error as NSError
        guard known.domain == NSURLErrorDomain else { return nil }
        return URLError(URLError.Code(rawValue: known.code) ?? .unknown, userInfo: known.userInfo)
    }

    private static func code(_ error: EngineError) -> URLError.Code {
        switch error {
        case .invalidRequest(.unknownLengthToHTTP10): .badServerResponse
        case .invalidRequest: .badURL
        case .connect(let error): code(error)
        case .timedOut: .timedOut
        case .tls(let error): code(error)
        case .proxy(let error): code(error)
        case .closedWhileOpening, .unsolicitedBytes, .closedBeforeResponse, .uploadAborted, .truncatedHead,
            .truncatedBody, .connectionLost, .sendFailed:
            .networkConnectionLost
        case .malformedResponse: .cannotParseResponse
        case .tooManyHeldHeads: .dataLengthExceedsMaximum
        case .unexpectedUpgrade: .badServerResponse
        case .undecodable: .cannotDecodeContentData
        case .bodyLengthMismatch, .bodyFailed, .bodySourceFailed: .requestBodyStreamExhausted
        case .bodyUnreadable(.noSuchFile): .fileDoesNotExist
        case .bodyUnreadable(.accessDenied): .noPermissionsToReadFile
        case .bodyUnreadable, .bodyFileReplaced: .cannotOpenFile
        case .system(let error): error.isResourceExhaustion ? .cannotConnectToHost : .networkConnectionLost
        case .cancelled, .shutDown: .cancelled
        }
    }

    private static func code(_ error: ConnectError) -> URLError.Code {
        guard !error.attempts.isEmpty else { return error.isWithoutLookup ? .cannotConnectToHost : .cannotFindHost }
        return error.attempts.allSatisfy { $0.errno == .networkUnreachable }
            ? .notConnectedToInternet : .cannotConnectToHost
    }

    private static func code(_ error: TLSError) -> URLError.Code {
        switch error {
        case .untrusted(let failure): code(failure.reason)
        case .refused: .serverCertificateUntrusted
        case .alert(let alert): code(alert)
        case .identity: .clientCertificateRejected
        case .truncated, .closedInHandshake, .closeNotifyInHandshake, .corruptRecord: .networkConnectionLost
        case .roots, .plainHTTP, .notTLS, .unsupportedVersion, .downgraded, .noSharedCipher,
            .unexpectedApplicationProtocol, .protocolViolation, .tooManyKeyUpdates, .tooManyHelloRequests, .closed,
            .invalidServerName, .configuration, .outOfMemory:
            .secureConnectionFailed
        }
    }

    /// The code for the reason why a server's certificate is not trusted.
    static func code(_ reason: TLSTrustFailure.Reason) -> URLError.Code {
        switch reason {
        case .expired: .serverCertificateHasBadDate
        case .notYetValid: .serverCertificateNotYetValid
        case .selfSigned, .untrustedRoot, .unknownIssuer, .incompleteChain: .serverCertificateHasUnknownRoot
        case .noCertificate, .outOfMemory: .secureConnectionFailed
        case .unreadableDate, .wrongHost, .chainTooLong, .wrongPurpose, .notAnAuthority, .pathTooLong, .nameConstraints,
            .unusableNameConstraints, .misplacedNameConstraints, .dsaKey,
            .unknownCriticalExtension, .weakKey, .weakSignature, .badSignature, .unreadableKey, .malformed,
            .unprofiled, .distrusted, .revoked, .revocationListMissing, .revocationListExpired,
            .revocationListNotYetValid, .revocationListUnusable, .stapleMissing, .stapleUnusable, .pinMismatch, .other:
            .serverCertificateUntrusted
        }
    }

    /// The code for certificate_required and other alerts about a client's certificate (RFC 8446 §6.2).
    private static func code(_ alert: TLSAlert) -> URLError.Code {
        switch alert.code {
        case 116: .clientCertificateRequired
        case 42...46, 48: .clientCertificateRejected
        default: .secureConnectionFailed
        }
    }

    private static func code(_ error: ProxyError) -> URLError.Code {
        switch error {
        // The URL's host is not the one that was not found.
        case .unreachable(let error): error.attempts.isEmpty ? .cannotConnectToHost : code(error)
        case .refused, .socks, .target: .cannotConnectToHost
        case .authenticationRequired, .credentials: .userAuthenticationRequired
        case .tls(let error): code(error)
        case .closed: .networkConnectionLost
        case .malformedResponse: .badServerResponse
        }
    }
}

extension URLError {
    /// The original error behind this one. An `NSError` would lose its type.
    package internal(set) var cause: (any Error)? {
        get { userInfo[URLError.causeKey] as? any Error }
        set { self = with(newValue, for: URLError.causeKey) }
    }

    private static let causeKey = "URLLoading.cause"

    /// Whether a file could not be opened because the process has no descriptor to spare.
    var isOfDescriptors: Bool {
        switch cause {
        case let reason as Errno: reason.isResourceExhaustion
        case FileBody.Problem.unreadable(let reason)?: reason.isResourceExhaustion
        default: false
        }
    }

    /// The error of its own with which one of the program's loading classes has failed; nil for other errors.
    package var ofClass: (any Error)? { code == .unknown ? cause : nil }

    /// Whether the program's own answer ended a handshake: it refused the peer's certificate, or to show one.
    package var isOfRefusedHandshake: Bool {
        switch cause as? EngineError {
        case .tls(.refused), .tls(.identity), .proxy(.tls(.refused)): true
        default: false
        }
    }

    /// Whether a proxy could not be used.
    package var isOfProxy: Bool {
        if case .proxy? = cause as? EngineError { true } else { false }
    }

    /// The particular cause in this module's words; nil for an error that other code has made.
    package var particulars: String? {
        guard let beneath = userInfo[NSUnderlyingErrorKey] as? NSError, beneath.domain == UnderlyingError.errorDomain
        else { return nil }
        return beneath.localizedDescription
    }
}

/// A cause that can be the underlying error of an `NSError`. ``description`` is its text.
struct UnderlyingError: Error, CustomNSError, LocalizedError, CustomStringConvertible {
    static let errorDomain = "URLLoading"

    let description: String

    init(_ reason: String) { description = reason }

    var errorCode: Int { 1 }
    var errorDescription: String? { description }
    var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }

    /// The customary content of `userInfo`.
    var nsError: NSError {
        NSError(domain: UnderlyingError.errorDomain, code: errorCode, userInfo: errorUserInfo)
    }
}

/// The `localizedDescription` of a `URLError` by its code, in CFNetwork's words, which programs show and tests compare.
/// The particular cause is in the underlying error.
extension ErrorTranslation {
    private static func words(_ code: URLError.Code, host: String?) -> String {
        let server = host.map { "“\($0)”" } ?? "the server"
        let pretender =
            "You might be connecting to a server that is pretending to be \(server) which could put your confidential "
            + "information at risk."
        return switch code {
        case .cancelled: "cancelled"
        case .badURL: "bad URL"
        case .timedOut: "The request timed out."
        case .unsupportedURL: "unsupported URL"
        case .cannotFindHost: "A server with the specified hostname could not be found."
        case .cannotConnectToHost: "Could not connect to the server."
        case .networkConnectionLost: "The network connection was lost."
        case .dnsLookupFailed: "DNS lookup error"
        case .httpTooManyRedirects: "too many HTTP redirects"
        case .resourceUnavailable: "resource unavailable"
        case .notConnectedToInternet: "The Internet connection appears to be offline."
        case .redirectToNonExistentLocation: "redirected to nowhere"
        case .badServerResponse: "There was a bad response from the server."
        case .userCancelledAuthentication: "The authentication was cancelled."
        case .userAuthenticationRequired: "Authentication is required."
        case .zeroByteResource: "zero byte resource"
        case .cannotDecodeRawData: "cannot decode raw data"
        case .cannotDecodeContentData: "cannot decode content data"
        case .cannotParseResponse: "cannot parse response"
        case .dataNotAllowed: "A data connection is not currently allowed."
        case .requestBodyStreamExhausted: "request body stream exhausted"
        case .appTransportSecurityRequiresSecureConnection:
            "The resource could not be loaded because the App Transport Security policy requires the use of a secure connection."
        case .fileDoesNotExist: "The requested URL was not found on this server."
        case .fileIsDirectory: "file is directory"
        case .noPermissionsToReadFile: "You do not have permission to access the requested resource."
        case .dataLengthExceedsMaximum: "resource exceeds maximum size"
        case .secureConnectionFailed: "An SSL error has occurred and a secure connection to the server cannot be made."
        case .serverCertificateHasBadDate: "The certificate for this server has expired. " + pretender
        case .serverCertificateUntrusted: "The certificate for this server is invalid. " + pretender
        case .serverCertificateHasUnknownRoot:
            "The certificate for this server was signed by an unknown certifying authority. " + pretender
        case .serverCertificateNotYetValid: "The certificate for this server is not yet valid. " + pretender
        case .clientCertificateRejected: "The server \(server) did not accept the certificate."
        case .clientCertificateRequired: "The server \(server) requires a client certificate."
        case .cannotLoadFromNetwork: "can’t load from network"
        case .cannotCreateFile: "Cannot create file"
        case .cannotOpenFile: "Cannot open file"
        case .cannotCloseFile: "Failure occurred while closing file"
        case .cannotWriteToFile: "Cannot write file"
        case .cannotRemoveFile: "Cannot remove file"
        case .cannotMoveFile: "Cannot move file"
        case .backgroundSessionWasDisconnected: "Lost connection to background transfer service"
        default: "unknown error"
        }
    }
}

/// The errors of loads.
extension ErrorTranslation {
    static func error(_ error: LoadError, _ url: URL?) -> URLError {
        switch error {
        case .engine(let error): self.error(error, url)
        case .rule(let reason): self.error(reason, url)
        case .url(let problem): urlError(code(problem), url, problem)
        case .noSocketURL: urlError(.unsupportedURL, url, "a WebSocket's URL begins with ws or wss")
        case .handshakeMethod: urlError(.unsupportedURL, url, "a WebSocket's handshake is a GET")
        case .handshake(let error): urlError(.badURL, url, error)
        case .contentWithGET: urlError(.dataLengthExceedsMaximum, url, "a GET request carries no content")
        case .fields(let error): urlError(.badURL, url, error)
        case .proxy(let fault): urlError(.cannotConnectToHost, url, fault)
        case .authentication(let error): urlError(.userAuthenticationRequired, url, error)
        case .uploadUnknown:
            urlError(.badServerResponse, url, "the server does not say how much of the upload it has")
        }
    }

    private static func code(_ problem: HTTPURL.Problem) -> URLError.Code {
        switch problem {
        case .scheme, .noScheme, .empty: .unsupportedURL
        case .userInformation, .host, .secondColon, .portSyntax, .portRange, .percent, .byte: .badURL
        }
    }

    /// Returns the error for the reason that the rules give for failing.
    private static func error(_ reason: Step.Reason, _ url: URL?) -> URLError {
        switch reason {
        case .tooManyRedirects:
            urlError(
                .httpTooManyRedirects,
                url,
                "there are more redirects than \(ResponseLimits.words("redirectCount"))"
            )
        case .nothingStored:
            urlError(
                .resourceUnavailable,
                url,
                "nothing is cached for this request, and only the cache was to be asked"
            )
        case .refusedByProxy:
            urlError(
                .userAuthenticationRequired,
                url,
                "the proxy asks for credentials, and there are none that it takes"
            )
        case .failure: urlError(.unknown, url, "the request failed")
        }
    }
}

/// The key in an error's `userInfo` of the data that a failed upload can be resumed from.
public let NSURLSessionUploadTaskResumeData: String = "NSURLSessionUploadTaskResumeData"

// The facts in an error's `userInfo`, under Apple's keys.
extension URLError {
    /// Why the system has cancelled a background task.
    @frozen public enum BackgroundTaskCancelledReason: Int, Hashable, Sendable {
        /// The user has forced the program to quit.
        case userForceQuitApplication = 0
        /// The user has disabled background work.
        case backgroundUpdatesDisabled = 1
        /// The system ran out of memory, disk or power.
        case insufficientSystemResources = 2
    }

    /// Which property of a network kept a task from using it.
    @frozen public enum NetworkUnavailableReason: Int, Hashable, Sendable {
        /// The only network was a cellular one.
        case cellular = 0
        /// The only network was an expensive one.
        case expensive = 1
        /// The only network was in low data mode.
        case constrained = 2
    }

    /// The data from which a failed or cancelled download can resume (``URLSession/downloadTask(withResumeData:)``);
    /// nil if it must start over.
    public var downloadTaskResumeData: Data? { userInfo[NSURLSessionDownloadTaskResumeData] as? Data }

    /// The data from which a failed or cancelled upload can resume (``URLSession/uploadTask(withResumeData:)``); nil if
    /// its server has not said that the upload can be resumed.
    public var uploadTaskResumeData: Data? { userInfo[NSURLSessionUploadTaskResumeData] as? Data }

    /// Nil in errors of this module, since Linux cancels no background tasks. Errors that a program makes may have it.
    public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
        number("NSURLErrorBackgroundTaskCancelledReasonKey").flatMap { BackgroundTaskCancelledReason(rawValue: $0) }
    }

    /// Nil in errors of this module, since Linux does not say which networks are cellular, expensive or constrained.
    /// Errors that a program makes may have it.
    public var networkUnavailableReason: NetworkUnavailableReason? {
        number("NSURLErrorNetworkUnavailableReasonKey").flatMap { NetworkUnavailableReason(rawValue: $0) }
    }

    private func number(_ key: String) -> Int? { (userInfo[key] as? Int) ?? (userInfo[key] as? NSNumber)?.intValue }
}

extension URLError {
    /// Returns the error with another fact, such as the data from which a later download or upload can resume.
    func with(_ fact: Any?, for key: String) -> URLError {
        var info = userInfo
        info[key] = fact
        return URLError(code, userInfo: info)
    }
}
