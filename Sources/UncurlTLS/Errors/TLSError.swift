internal import CUncurlOpenSSL
import UncurlText

/// What went wrong below HTTP, in words that a reader of a log understands.
public enum TLSError: Error, Hashable, Sendable {
    /// The verification of the peer's certificates failed.
    case untrusted(TLSTrustFailure)
    /// The trust decision that the program was asked for was a refusal.
    case refused(reason: String)
    /// The roots to verify against cannot be loaded. The error names every path that was tried.
    case roots(TrustStoreError)
    /// This side's own certificate or key cannot be used.
    case identity(CertificateError)
    /// The peer sent a fatal alert.
    case alert(TLSAlert)
    /// The peer uses plain HTTP on this port.
    case plainHTTP
    /// The peer's first bytes are no TLS record.
    case notTLS(firstBytes: [UInt8])
    /// The two sides have no protocol version in common, or the peer chose one below the minimum.
    case unsupportedVersion
    /// The handshake agreed on an older version than both sides support (RFC 8446 §4.1.3, RFC 7507): it was changed on
    /// its way.
    case downgraded
    /// The two sides have no cipher suite in common.
    case noSharedCipher
    /// The peer selected an application protocol that was not offered (RFC 7301 §3.2).
    case unexpectedApplicationProtocol(String)
    /// The transport ended inside the handshake.
    case closedInHandshake
    /// The peer sent close_notify inside the handshake: it ended the connection in order, and without a reason.
    case closeNotifyInHandshake
    /// The transport ended without close_notify (RFC 8446 §6.1): the data before may have been cut short.
    case truncated
    /// A record did not decrypt: it was changed on its way, or it is not meant for this connection.
    case corruptRecord
    /// Any other breach of the protocol, in OpenSSL's words.
    case protocolViolation(String)
    /// Answers to key updates took more than `TLSSession.answerLimit` bytes without a byte of data between them.
    case tooManyKeyUpdates
    /// Answers to HelloRequests of TLS 1.2 took as many bytes (RFC 5246 §7.4.1.1).
    case tooManyHelloRequests
    /// The session was used after ``TLSSession/close()`` or ``TLSSession/abandon()``.
    case closed
    /// The text is neither a name nor an address that a certificate can be checked for.
    case invalidServerName(String)
    /// OpenSSL refuses a setting. The text says which.
    case configuration(String)
    /// OpenSSL could not allocate memory.
    case outOfMemory
}

extension TLSError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .untrusted(let failure): "the server's certificate is not trusted: \(failure)"
        case .refused(let reason): "the server was refused: \(reason)"
        case .roots(let error): error.description
        case .identity(let error): "the certificate to show cannot be used: \(error)"
        case .alert(let alert): "the peer ended the connection with the TLS alert \(alert)\(TLSError.hint(alert))"
        case .plainHTTP: "the peer speaks plain HTTP, not TLS, on this port"
        case .notTLS(let bytes): "the peer does not speak TLS on this port: it began with \(TLSError.shown(bytes))"
        case .unsupportedVersion: "the peer speaks no version of TLS that is allowed here"
        case .downgraded:
            "the handshake came to an older version of TLS than both sides speak: it was changed on its way, or the peer is broken"
        case .noSharedCipher: "the peer and this side have no cipher suite in common"
        case .unexpectedApplicationProtocol(let name): "the server chose \(name), which was not offered"
        case .closedInHandshake: "the connection ended inside the TLS handshake"
        case .closeNotifyInHandshake: "the peer ended the TLS handshake with close_notify, and said no reason"
        case .truncated: "the connection ended without a TLS close_notify: what came may have been cut short"
        case .corruptRecord: "a TLS record was damaged on its way"
        case .protocolViolation(let text): "the peer broke the TLS protocol: \(text)"
        case .tooManyKeyUpdates: "the peer asks for new keys without end"
        case .tooManyHelloRequests: "the peer asks for new handshakes without end"
        case .closed: "the TLS session is closed"
        case .invalidServerName(let name): "“\(name)” is no name a certificate can be checked for"
        case .configuration(let text): "the TLS configuration cannot be used: \(text)"
        case .outOfMemory: "out of memory"
        }
    }

    /// Returns what an alert mostly means.
    private static func hint(_ alert: TLSAlert) -> String {
        switch alert.code {
        case 40: " (nothing in common: versions, cipher suites, or a client certificate is missing)"
        case 70: " (it accepts none of the TLS versions offered)"
        case 86: " (it speaks a newer version of TLS than it was asked for)"
        case 112: " (it does not know the server name)"
        case 116: " (it wants a client certificate)"
        case 120: " (it does not speak HTTP/1.1)"
        default: ""
        }
    }

    /// Returns printable ASCII as it is, and other bytes as hexadecimal numbers.
    private static func shown(_ bytes: [UInt8]) -> String {
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return bytes.map { "0x" + hexText([$0]) }.joined(separator: " ")
        }
        return "“\(String(decoding: bytes, as: UTF8.self))”"
    }
}

/// The translation of OpenSSL's error codes.
extension TLSError {
    /// Returns the error for what OpenSSL reports.
    ///
    /// - Parameters:
    ///   - entry: The earliest entry of the error queue.
    ///   - code: The code of SSL_get_error.
    static func of(_ entry: (library: CInt, reason: CInt, text: String)?, _ code: CInt) -> TLSError {
        // Outside of a handshake, the callers read a close_notify as the regular end that it is.
        if code == SSL_ERROR_ZERO_RETURN { return .closeNotifyInHandshake }
        guard let entry else { return .protocolViolation("SSL_get_error \(code)") }
        guard entry.library == ERR_LIB_SSL else {
            return entry.reason == CInt(ERR_R_MALLOC_FAILURE) ? .outOfMemory : .protocolViolation(entry.text)
        }
        // SSL_AD_REASON_OFFSET and the 256 codes after it stand for alerts that the peer sent.
        if let alert = UInt8(exactly: entry.reason - SSL_AD_REASON_OFFSET) { return .alert(TLSAlert(code: alert)) }
        switch entry.reason {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
            return .plainHTTP
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW, SSL_R_NO_PROTOCOLS_AVAILABLE:
            return .unsupportedVersion
        case SSL_R_INAPPROPRIATE_FALLBACK:
            return .downgraded
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_CIPHERS_AVAILABLE:
            return .noSharedCipher
        case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, SSL_R_BAD_RECORD_TYPE:
            return .corruptRecord
        case CInt(ERR_R_MALLOC_FAILURE):
            return .outOfMemory
        default:
            return .protocolViolation(entry.text)
        }
    }

    /// The code that selects the alert for a peer whose certificates did not pass (RFC 8446 §6.2).
    var verificationCode: CInt {
        switch self {
        case .untrusted(let failure): failure.code
        case .refused: X509_V_ERR_CERT_REJECTED
        default: X509_V_ERR_UNSPECIFIED
        }
    }
}

/// An alert as the peer sent it (RFC 8446 §6).
public struct TLSAlert: Hashable, Sendable, CustomStringConvertible {
    /// The alert's number (RFC 8446 §6).
    public let code: UInt8

    /// Makes an alert from its number.
    public init(code: UInt8) { self.code = code }

    /// The name of the code in IANA's registry of TLS alerts: "handshake_failure".
    public var name: String {
        switch code {
        case 0: "close_notify"
        case 10: "unexpected_message"
        case 20: "bad_record_mac"
        case 21: "decryption_failed"
        case 22: "record_overflow"
        case 30: "decompression_failure"
        case 40: "handshake_failure"
        case 41: "no_certificate"
        case 42: "bad_certificate"
        case 43: "unsupported_certificate"
        case 44: "certificate_revoked"
        case 45: "certificate_expired"
        case 46: "certificate_unknown"
        case 47: "illegal_parameter"
        case 48: "unknown_ca"
        case 49: "access_denied"
        case 50: "decode_error"
        case 51: "decrypt_error"
        case 52: "too_many_cids_requested"
        case 60: "export_restriction"
        case 70: "protocol_version"
        case 71: "insufficient_security"
        case 80: "internal_error"
        case 86: "inappropriate_fallback"
        case 90: "user_canceled"
        case 100: "no_renegotiation"
        case 109: "missing_extension"
        case 110: "unsupported_extension"
        case 111: "certificate_unobtainable"
        case 112: "unrecognized_name"
        case 113: "bad_certificate_status_response"
        case 114: "bad_certificate_hash_value"
        case 115: "unknown_psk_identity"
        case 116: "certificate_required"
        case 117: "general_error"
        case 120: "no_application_protocol"
        case 121: "ech_required"
        default: "number \(code), which has no name"
        }
    }

    public var description: String { name }
}

/// The supported protocol versions. Older ones are obsolete for good (RFC 8996).
public enum TLSVersion: UInt16, Comparable, CaseIterable, Sendable, CustomStringConvertible {
    /// TLS 1.2 (RFC 5246).
    case v1_2 = 0x0303
    /// TLS 1.3 (RFC 8446).
    case v1_3 = 0x0304

    /// The most octets of content that one record carries (RFC 8446 §5.1, RFC 5246 §6.2.1).
    public static let maximumPlaintext = 16 * 1024

    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }

    public var description: String {
        switch self {
        case .v1_2: "TLS 1.2"
        case .v1_3: "TLS 1.3"
        }
    }
}
