internal import Glibc

/// A file of TLS secrets in the format of SSLKEYLOGFILE, which lets a protocol analyser decrypt recorded traffic.
///
/// Opened for appending and for its owner alone. A line is one `write`, so that several processes may share the file.
/// Nothing looks at the environment unless ``fromEnvironment()`` is called.
public final class KeyLog: Sendable {
    /// The file that is written to.
    public let path: String
    private let descriptor: CInt

    /// Opens the file for appending; makes it, for its owner alone, if it is not there.
    public init(path: String) throws(TLSError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw unsafe .configuration("key log \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// The file that SSLKEYLOGFILE names; nil where the variable is not set or empty.
    public static func fromEnvironment() throws(TLSError) -> KeyLog? {
        guard let value = unsafe getenv("SSLKEYLOGFILE"), unsafe value.pointee != 0 else { return nil }
        return try unsafe KeyLog(path: String(cString: value))
    }

    /// A line without its end. That a full disk swallows it must not fail the handshake.
    func append(_ line: UnsafePointer<CChar>) {
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: line, count: strlen(line))) + [0x0A]
        _ = unsafe write(descriptor, bytes, bytes.count)
    }
}
