/// Whom to trust: what the system keeps, files, directories, certificates in memory, or any of them together.
/// Files are read when a ``TrustStore`` loads, not before.
public struct TrustRoots: Hashable, Sendable {
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

    /// All of them count. None: nobody is trusted.
    public var sources: [Source]

    public init(_ sources: [Source]) { self.sources = sources }

    public static let system = TrustRoots([.system])
    public static func file(_ path: String) -> TrustRoots { TrustRoots([.file(path)]) }
    public static func directory(_ path: String) -> TrustRoots { TrustRoots([.directory(path)]) }
    public static func pem(_ text: [UInt8]) -> TrustRoots { TrustRoots([.pem(text)]) }
    public static func pem(_ text: String) -> TrustRoots { TrustRoots([.pem(Array(text.utf8))]) }

    /// Both.
    public static func + (left: TrustRoots, right: TrustRoots) -> TrustRoots {
        TrustRoots(left.sources + right.sources)
    }
}
