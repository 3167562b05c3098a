/// Why a stapled OCSP response proves nothing (RFC 6960).
public enum StapleFault: Hashable, Sendable, CustomStringConvertible {
    /// It is no OCSP response.
    case unreadable
    /// The responder answered with an error, as a number of RFC 6960 §4.2.1.
    case unsuccessful(Int)
    /// Its answers are about other certificates.
    case notAboutThisCertificate
    /// Neither the issuer nor a responder that it delegated to signed it.
    case wrongSigner
    /// Its signature does not verify.
    case badSignature
    /// It begins to be valid then.
    case notYetValid(CertificateDate)
    /// It was valid until then.
    case expired(CertificateDate)
    /// The responder knows nothing of the certificate.
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
