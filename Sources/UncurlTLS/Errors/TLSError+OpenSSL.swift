internal import CUncurlOpenSSL

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
