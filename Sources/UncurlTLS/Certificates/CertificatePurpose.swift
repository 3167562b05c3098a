/// What a certificate is used for: which extended key usage its chain must allow (RFC 5280 §4.2.1.12).
public enum CertificatePurpose: Hashable, Sendable {
    /// The chain is a server's (id-kp-serverAuth).
    case server
    /// The chain is a client's (id-kp-clientAuth).
    case client
}
