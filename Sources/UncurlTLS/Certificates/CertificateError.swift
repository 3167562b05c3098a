/// Why a certificate, a key or a revocation list cannot be read or used.
public enum CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file cannot be read.
    case unreadable(path: String, reason: String)
    /// The text holds no certificate.
    case noCertificate
    /// A certificate cannot be read, in OpenSSL's words.
    case malformedCertificate(String)
    /// The text holds no private key.
    case noKey
    /// The private key cannot be read, in OpenSSL's words.
    case malformedKey(String)
    /// The key is encrypted, and there is no password. OpenSSL's prompt on the terminal is turned off.
    case passwordNeeded
    /// The password does not open the key or the file.
    case wrongPassword
    /// The key belongs to another certificate.
    case keyMismatch
    /// The octets are no readable PKCS #12 file, in OpenSSL's words.
    case malformedPKCS12(String)
    /// The file is encrypted with an algorithm that OpenSSL 3 keeps in its legacy provider (RC2, triple DES of old PKCS
    /// #12 files), and that provider is not installed.
    case legacyEncryption(String)
    /// The file asks for more iterations than this limit to derive keys from its password (RFC 8018 §4.2): a number in
    /// the file, which would take minutes of processor time.
    case tooManyIterations(limit: Int)
    /// OpenSSL refuses the certificate or the key: a key that is too weak, for instance.
    case refused(String)
    /// The text holds no revocation list.
    case noRevocationList
    /// A revocation list cannot be read, in OpenSSL's words.
    case malformedRevocationList(String)

    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .noCertificate: "there is no certificate in it"
        case .malformedCertificate(let why): "the certificate cannot be read: \(why)"
        case .noKey: "there is no private key in it"
        case .malformedKey(let why): "the private key cannot be read: \(why)"
        case .passwordNeeded: "the private key is encrypted and no password was given"
        case .wrongPassword: "the password does not open it"
        case .keyMismatch: "the private key does not belong to the certificate"
        case .malformedPKCS12(let why): "it is no readable PKCS #12 file: \(why)"
        case .legacyEncryption(let why):
            "it is encrypted as old programs did, and OpenSSL's legacy provider is missing: \(why)"
        case .tooManyIterations(let limit):
            "it asks for more than \(limit) iterations to derive keys from its password"
        case .refused(let why): "OpenSSL refuses it: \(why)"
        case .noRevocationList: "there is no revocation list in it"
        case .malformedRevocationList(let why): "the revocation list cannot be read: \(why)"
        }
    }
}

/// The error when no roots could be loaded. Without it every server would be refused, and the cause hidden.
public struct TrustStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// All places that the loader looked at, in order: each file or folder, with the reason why it gave no roots.
    public let attempts: [String]

    public var description: String { "no trusted roots could be loaded (\(attempts.joined(separator: "; ")))" }
}
