import CUncurlLinux
import Glibc

/// A port of 127.0.0.1 that refuses connections as long as this object lives: its socket is bound, but does not listen.
/// The port of a server that has stopped may be another server's by the time of a connection.
public final class RefusingPort: Sendable {
    public let number: UInt16
    private let descriptor: CInt

    public init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Peer.loopback(0)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                return bind(descriptor, generic, size) == 0 && getsockname(descriptor, generic, &size) == 0
            }
        }
        self.descriptor = descriptor
        number = UInt16(bigEndian: address.sin_port)
        guard isBound else { throw Peer.Failure(description: "no free port") }
    }

    deinit { close(descriptor) }
}
