/// The authorities to trust: what the system keeps, files, directories, certificates in memory, or any of them
/// together. Files are read when a ``TrustStore`` loads, not before.
public struct TrustRoots: Hashable, Sendable {
    /// Where roots come from.
    public enum Source: Hashable, Sendable {
        /// What the distribution keeps, found as ``TrustStore`` tells, or what SSL_CERT_FILE and SSL_CERT_DIR name.
        case system
        /// Certificates in PEM, any number, or one in DER.
        case file(String)
        /// Its files that `openssl rehash` has named, or if there are none, those ending in .pem, .crt or .cer.
        case directory(String)
        /// Certificates in PEM.
        case pem([UInt8])
    }

    /// All of them count. Empty: no server is trusted.
    public var sources: [Source]

    /// The roots of all these sources together.
    public init(_ sources: [Source]) { self.sources = sources }

    /// What the distribution keeps.
    public static let system = TrustRoots([.system])
    /// The certificates of one file.
    public static func file(_ path: String) -> TrustRoots { TrustRoots([.file(path)]) }
    /// The certificates of one folder.
    public static func directory(_ path: String) -> TrustRoots { TrustRoots([.directory(path)]) }
    /// Certificates in PEM.
    public static func pem(_ text: [UInt8]) -> TrustRoots { TrustRoots([.pem(text)]) }
    /// Certificates in PEM.
    public static func pem(_ text: String) -> TrustRoots { TrustRoots([.pem(Array(text.utf8))]) }

    /// Both.
    public static func + (left: TrustRoots, right: TrustRoots) -> TrustRoots {
        TrustRoots(left.sources + right.sources)
    }
}
