/// The trusted authorities: those of the system, of files, of directories, of certificates in memory, or any of them
/// together. Files are read when a ``TrustStore`` loads, not before.
public struct TrustRoots: Hashable, Sendable {
    /// Where roots come from.
    public enum Source: Hashable, Sendable {
        /// The distribution's roots, and those that SSL_CERT_FILE and SSL_CERT_DIR name, found as ``TrustStore``
        /// describes.
        case system
        /// Certificates in PEM, any number, or one in DER.
        case file(String)
        /// The directory's files that `openssl rehash` has named or, if there are none, those ending in .pem, .crt or
        /// .cer.
        case directory(String)
        /// Certificates in PEM.
        case pem([UInt8])
    }

    /// The sources, whose roots are all trusted. If it is empty, no server is trusted.
    public var sources: [Source]

    /// Makes the roots of all these sources together.
    public init(_ sources: [Source]) { self.sources = sources }

    /// The roots of the distribution.
    public static let system = TrustRoots([.system])
    /// Returns the certificates of one file.
    public static func file(_ path: String) -> TrustRoots { TrustRoots([.file(path)]) }
    /// Returns the certificates of one folder.
    public static func directory(_ path: String) -> TrustRoots { TrustRoots([.directory(path)]) }
    /// Returns the certificates of a PEM text.
    public static func pem(_ text: [UInt8]) -> TrustRoots { TrustRoots([.pem(text)]) }
    /// Returns the certificates of a PEM text.
    public static func pem(_ text: String) -> TrustRoots { TrustRoots([.pem(Array(text.utf8))]) }

    /// Returns the roots of both together.
    public static func + (left: TrustRoots, right: TrustRoots) -> TrustRoots {
        TrustRoots(left.sources + right.sources)
    }
}
