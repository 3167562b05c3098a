internal import CUncurlOpenSSL

/// A date in a certificate.
public enum TestDate: Sendable, Hashable {
    /// Seconds since 1970, written by RFC 5280 §4.1.2.5: UTCTime until 2049, GeneralizedTime from 2050.
    case unix(Int64)
    /// Exactly these characters, as a UTCTime (tag 23), valid or not.
    case utc(String)
    /// Exactly these characters, as a GeneralizedTime (tag 24), valid or not.
    case generalized(String)

    func set(_ field: UnsafeMutablePointer<ASN1_TIME>?) throws(TestCertificateError) {
        switch self {
        case .unix(let seconds):
            _ = try unsafe checked(ASN1_TIME_set(field, time_t(seconds)), "date")
        case .utc(let text): try unsafe set(text, V_ASN1_UTCTIME, field)
        case .generalized(let text): try unsafe set(text, V_ASN1_GENERALIZEDTIME, field)
        }
    }

    private func set(
        _ text: String,
        _ kind: CInt,
        _ field: UnsafeMutablePointer<ASN1_TIME>?
    ) throws(TestCertificateError) {
        let field = try unsafe checked(field, "date")
        let bytes = Array(text.utf8)
        try check(unsafe ASN1_STRING_set(field, bytes, CInt(bytes.count)), "date \(text)")
        unsafe field.pointee.type = kind
    }
}
