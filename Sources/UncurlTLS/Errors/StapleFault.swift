/// Why a stapled OCSP response proves nothing (RFC 6960).
public enum StapleFault: Hashable, Sendable, CustomStringConvertible {
    /// The response cannot be read as an OCSP response.
    case unreadable
    /// The responder answered with an error. The number is that of RFC 6960 §4.2.1.
    case unsuccessful(Int)
    /// The response is about other certificates.
    case notAboutThisCertificate
    /// The signer is neither the issuer nor a responder that the issuer delegated to.
    case wrongSigner
    /// The response's signature does not verify.
    case badSignature
    /// The response is not valid before this date.
    case notYetValid(CertificateDate)
    /// The response was valid until this date.
    case expired(CertificateDate)
    /// The responder does not know the certificate.
    case unknownCertificate

    public var description: String {
        switch self {
        case .unreadable: "it cannot be read"
        case .unsuccessful(let code): "the responder failed with status \(code)"
        case .notAboutThisCertificate: "it is about another certificate"
        case .wrongSigner: "it is not signed by the issuer or its delegate"
        case .badSignature: "its signature is wrong"
        case .notYetValid(let date): "it is not valid before \(date)"
        case .expired(let date): "it expired on \(date)"
        case .unknownCertificate: "the responder does not know the certificate"
        }
    }
}
