internal import Foundation
internal import HTTPEngine
internal import Reactor
internal import TLS

/// The one place where what happened below becomes a `URLError`: its code by Foundation's names, both failing-URL keys,
/// and what really happened, in words, as the underlying error.
enum ErrorTranslation {
    static func error(_ error: EngineError, _ url: URL?) -> URLError {
        urlError(code(error), url, error)
    }

    static func urlError(_ code: URLError.Code, _ url: URL?, _ cause: any Error) -> URLError {
        var error = urlError(code, url, underlying: UnderlyingError(cause).nsError)
        error.cause = cause
        return error
    }

    /// `NSURLErrorFailingURLStringErrorKey`, which is deprecated, and still looked for.
    private static let failingURLString = "NSErrorFailingURLStringKey"

    /// - Parameter reason: what happened, for people.
    static func urlError(_ code: URLError.Code, _ url: URL?, _ reason: String) -> URLError {
        urlError(code, url, underlying: UnderlyingError(reason).nsError)
    }

    private static func urlError(_ code: URLError.Code, _ url: URL?, underlying: NSError) -> URLError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: CFNetworkWords.of(code, host: url?.host), NSUnderlyingErrorKey: underlying,
        ]
        if let url {
            info[NSURLErrorFailingURLErrorKey] = url
            info[failingURLString] = url.absoluteString
        }
        return URLError(code, userInfo: info)
    }

    /// What a `URLProtocol` class of the user's fails with: a `URLError` gets what it lacks, any other error is the
    /// task's as it is.
    static func classError(_ error: any Error, _ url: URL?) -> any Error {
        (error as NSError).domain == NSURLErrorDomain ? self.error(error, url) : error
    }

    /// Any error as a `URLError`: one gets what it lacks, others become the cause of one.
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
        guard !error.attempts.isEmpty else { return .cannotFindHost }
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

    /// Why a server's certificates are not trusted.
    static func code(_ reason: TrustFailure.Reason) -> URLError.Code {
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

    /// RFC 8446 §6.2: certificate_required, and what servers say of certificates they were shown.
    private static func code(_ alert: TLSAlert) -> URLError.Code {
        switch alert.code {
        case 116: .clientCertificateRequired
        case 42...46, 48: .clientCertificateRejected
        default: .secureConnectionFailed
        }
    }

    private static func code(_ error: ProxyError) -> URLError.Code {
        switch error {
        case .unreachable, .refused, .socks, .target: .cannotConnectToHost
        case .authenticationRequired, .credentials: .userAuthenticationRequired
        case .tls: .secureConnectionFailed
        case .closed: .networkConnectionLost
        case .malformedResponse: .badServerResponse
        }
    }
}

extension URLError {
    /// The very error behind this one, for code of ours that looks closer: an `NSError` would forget its type.
    package internal(set) var cause: (any Error)? {
        get { userInfo[URLError.causeKey] as? any Error }
        set {
            var info = userInfo
            info[URLError.causeKey] = newValue
            self = URLError(code, userInfo: info)
        }
    }

    private static let causeKey = "URLLoading.cause"

    /// What happened, in this module's words; nil of an error that others made.
    package var particulars: String? {
        guard let beneath = userInfo[NSUnderlyingErrorKey] as? NSError, beneath.domain == UnderlyingError.errorDomain
        else { return nil }
        return beneath.localizedDescription
    }
}

/// What happened, as an `NSError`'s cause has to be one: ``description`` says it.
struct UnderlyingError: Error, CustomNSError, LocalizedError, CustomStringConvertible {
    static let errorDomain = "URLLoading"

    let description: String
    /// The engine's word, for code that looks closer.
    let cause: (any Error)?

    init(_ cause: any Error) {
        self.cause = cause
        description = "\(cause)"
    }

    init(_ reason: String) {
        cause = nil
        description = reason
    }

    var errorCode: Int { 1 }
    var errorDescription: String? { description }
    var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }

    /// What `userInfo` holds by custom.
    var nsError: NSError {
        NSError(domain: UnderlyingError.errorDomain, code: errorCode, userInfo: errorUserInfo)
    }
}
