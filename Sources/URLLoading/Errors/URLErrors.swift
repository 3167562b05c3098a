public import Foundation
internal import UncurlClient
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// The one place that turns errors of lower rooms into a `URLError`: with Foundation's code, both keys of the failing
/// URL, and the particular cause, in words, as the underlying error.
extension URLError {
    init(_ error: EngineError, _ url: URL?) {
        guard let reason = error.limitReason else {
            self.init(Code(error), url, error)
            return
        }
        self.init(Code(error), url, reason)
        cause = error
    }

    init(_ code: Code, _ url: URL?, _ cause: any Error) {
        self.init(code, url, "\(cause)")
        self.cause = cause
    }

    /// - Parameter reason: the cause, in words for people.
    init(_ code: Code, _ url: URL?, _ reason: String) {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: URLError.words(code, host: url?.host),
            NSUnderlyingErrorKey: UnderlyingError(reason).nsError,
        ]
        info.addFailing(url)
        self.init(code, userInfo: info)
    }

    /// - Parameter file: names the file that could not be opened.
    init(_ code: Code, _ url: URL?, _ file: String, _ reason: Errno) {
        self.init(code, url, "\(file): \(reason)")
        cause = reason
    }

    /// Any error as a `URLError`. A `URLError` gets the facts that it lacks; any other error becomes the underlying
    /// error of one.
    init(_ error: any Error, _ url: URL?) {
        guard let given = URLError(known: error) else {
            self.init(.unknown, url, error)
            return
        }
        self = given
        guard given.userInfo[NSURLErrorFailingURLErrorKey] == nil, url != nil else { return }
        var info = given.userInfo
        info.addFailing(url)
        self.init(given.code, userInfo: info)
    }

    private init?(known error: any Error) {
        if let error = error as? URLError {
            self = error
            return
        }
        let error = error as NSError
        guard error.domain == NSURLErrorDomain else { return nil }
        self.init(Code(rawValue: error.code) ?? .unknown, userInfo: error.userInfo)
    }

    /// The error of a `URLProtocol` class of the program. A `URLError` gets the facts that it lacks; any other error is
    /// the task's error as it is.
    static func ofClass(_ error: any Error, _ url: URL?) -> any Error {
        (error as NSError).domain == NSURLErrorDomain ? URLError(error, url) : error
    }
}

extension [String: Any] {
    /// Adds the URL that failed, as a `URL` and as text. The text's key is deprecated, but programs still read it.
    fileprivate mutating func addFailing(_ url: URL?) {
        guard let url else { return }
        self[NSURLErrorFailingURLErrorKey] = url
        self["NSErrorFailingURLStringKey"] = url.absoluteString
    }
}

extension URLError.Code {
    init(_ error: EngineError) {
        self =
            switch error {
            case .invalidRequest(.unknownLengthToHTTP10): .badServerResponse
            case .invalidRequest: .badURL
            case .connect(let error): Self(error)
            case .timedOut: .timedOut
            case .tls(let error): Self(error)
            case .proxy(let error): Self(error)
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

    init(_ error: ConnectError) {
        if error.attempts.isEmpty {
            self = error.isWithoutLookup ? .cannotConnectToHost : .cannotFindHost
        } else {
            let isOffline = error.attempts.allSatisfy { $0.errno == .networkUnreachable }
            self = isOffline ? .notConnectedToInternet : .cannotConnectToHost
        }
    }

    init(_ error: TLSError) {
        self =
            switch error {
            case .untrusted(let failure): Self(failure.reason)
            case .refused: .serverCertificateUntrusted
            case .alert(let alert): Self(alert)
            case .identity: .clientCertificateRejected
            case .truncated, .closedInHandshake, .closeNotifyInHandshake, .corruptRecord: .networkConnectionLost
            case .roots, .plainHTTP, .notTLS, .unsupportedVersion, .downgraded, .noSharedCipher,
                .unexpectedApplicationProtocol, .protocolViolation, .tooManyKeyUpdates, .tooManyHelloRequests, .closed,
                .invalidServerName, .configuration, .outOfMemory:
                .secureConnectionFailed
            }
    }

    /// The code for the reason why a server's certificate is not trusted.
    init(_ reason: TLSTrustFailure.Reason) {
        self =
            switch reason {
            case .expired: .serverCertificateHasBadDate
            case .notYetValid: .serverCertificateNotYetValid
            case .selfSigned, .untrustedRoot, .unknownIssuer, .incompleteChain: .serverCertificateHasUnknownRoot
            case .noCertificate, .outOfMemory: .secureConnectionFailed
            case .unreadableDate, .wrongHost, .chainTooLong, .wrongPurpose, .notAnAuthority, .pathTooLong,
                .nameConstraints,
                .unusableNameConstraints, .misplacedNameConstraints, .dsaKey,
                .unknownCriticalExtension, .weakKey, .weakSignature, .badSignature, .unreadableKey, .malformed,
                .unprofiled, .distrusted, .revoked, .revocationListMissing, .revocationListExpired,
                .revocationListNotYetValid, .revocationListUnusable, .stapleMissing, .stapleUnusable, .pinMismatch,
                .other:
                .serverCertificateUntrusted
            }
    }

    /// The code for certificate_required and other alerts about a client's certificate (RFC 8446 §6.2).
    init(_ alert: TLSAlert) {
        self =
            switch alert.code {
            case 116: .clientCertificateRequired
            case 42...46, 48: .clientCertificateRejected
            default: .secureConnectionFailed
            }
    }

    init(_ error: ProxyError) {
        self =
            switch error {
            // The URL's host is not the one that was not found.
            case .unreachable(let error): error.attempts.isEmpty ? .cannotConnectToHost : Self(error)
            case .refused, .socks, .target: .cannotConnectToHost
            case .authenticationRequired, .credentials: .userAuthenticationRequired
            case .tls(let error): Self(error)
            case .closed: .networkConnectionLost
            case .malformedResponse: .badServerResponse
            }
    }

    fileprivate init(_ problem: HTTPURL.Problem) {
        self =
            switch problem {
            case .scheme, .noScheme, .empty: .unsupportedURL
            case .userInformation, .host, .secondColon, .portSyntax, .portRange, .percent, .byte: .badURL
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
extension URLError {
    private static func words(_ code: Code, host: String?) -> String {
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
extension URLError {
    init(_ error: LoadError, _ url: URL?) {
        switch error {
        case .engine(let error): self.init(error, url)
        case .rule(let reason): self.init(reason, url)
        case .url(let problem): self.init(Code(problem), url, problem)
        case .noSocketURL: self.init(.unsupportedURL, url, "a WebSocket's URL begins with ws or wss")
        case .handshakeMethod: self.init(.unsupportedURL, url, "a WebSocket's handshake is a GET")
        case .handshake(let error): self.init(.badURL, url, error)
        case .contentWithGET: self.init(.dataLengthExceedsMaximum, url, "a GET request carries no content")
        case .fields(let error): self.init(.badURL, url, error)
        case .proxy(let fault): self.init(.cannotConnectToHost, url, fault)
        case .authentication(let error): self.init(.userAuthenticationRequired, url, error)
        case .uploadUnknown:
            self.init(.badServerResponse, url, "the server does not say how much of the upload it has")
        }
    }

    /// The error for the reason that the rules give for failing.
    private init(_ reason: Step.Reason, _ url: URL?) {
        let (code, words): (Code, String) =
            switch reason {
            case .tooManyRedirects:
                (.httpTooManyRedirects, "there are more redirects than \(ResponseLimits.words("redirectCount"))")
            case .nothingStored:
                (.resourceUnavailable, "nothing is cached for this request, and only the cache was to be asked")
            case .refusedByProxy:
                (.userAuthenticationRequired, "the proxy asks for credentials, and there are none that it takes")
            case .failure: (.unknown, "the request failed")
            }
        self.init(code, url, words)
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
