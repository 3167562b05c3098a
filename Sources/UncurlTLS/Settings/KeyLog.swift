internal import Glibc

/// A file of TLS secrets in the format of SSLKEYLOGFILE, which lets a protocol analyser decrypt recorded traffic.
///
/// The file is opened for appending and for its owner alone. A line is one `write`, so that several processes may share
/// the file. The environment is not read unless ``fromEnvironment()`` is called.
public final class KeyLog: Sendable {
    /// The path of the file.
    public let path: String
    private let descriptor: CInt

    /// Opens the file for appending. If it does not exist, it is made for its owner alone.
    public init(path: String) throws(TLSError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw unsafe .configuration("key log \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Opens the file that SSLKEYLOGFILE names. Returns nil where the variable is not set or empty.
    public static func fromEnvironment() throws(TLSError) -> KeyLog? {
        guard let value = unsafe getenv("SSLKEYLOGFILE"), unsafe value.pointee != 0 else { return nil }
        return try unsafe KeyLog(path: String(cString: value))
    }

    /// Appends a line, given without its end. A full disk loses the line, but must not fail the handshake.
    func append(_ line: UnsafePointer<CChar>) {
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: line, count: strlen(line))) + [0x0A]
        _ = unsafe write(descriptor, bytes, bytes.count)
    }
}
