internal import COpenSSL

/// Why a chain is not trusted.
public enum TrustFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case openSSL(Int32)

    /// X509_V_ERR_…, which picks the alert.
    var code: CInt {
        switch self {
        case .openSSL(let code): code
        }
    }

    public var description: String { unsafe String(cString: X509_verify_cert_error_string(Int(code))) }
}
