public import Reactor
public import TLS

/// What a ``RawServer`` saw of one connection.
public struct RawRecord: Sendable {
    /// When it was accepted, on the monotonic clock.
    public let connected: Instant
    /// The peer's end; nil for a nameless unix socket.
    public let peer: SocketAddress?
    /// Every byte that came, in order; over TLS, the decrypted ones.
    public internal(set) var received: [UInt8] = []
    /// When bytes came, and how many had come by then: one entry a read.
    public internal(set) var arrivals: [Arrival] = []
    /// The peer's FIN came.
    public internal(set) var sawFinish = false
    /// The peer's RST came (or the kernel's, for writing after its close).
    public internal(set) var sawReset = false
    /// The peer's close_notify came.
    public internal(set) var sawCloseNotify = false
    /// What the TLS handshake agreed on, once it is done.
    public internal(set) var tls: TLSInfo?
    /// The name that the client indicated in it.
    public internal(set) var serverName: String?
    /// Why TLS ended early; the peer's alert among others.
    public internal(set) var tlsError: TLSError?
    /// Bytes of the script that the kernel took; over TLS, bytes of ciphertext.
    public internal(set) var sentCount = 0
    /// Steps of the script that were done, those of earlier rounds included.
    public internal(set) var stepsDone = 0
    /// This side has closed the connection.
    public internal(set) var isClosed = false

    /// A read: when, and the bytes received so far with it.
    public struct Arrival: Sendable, Equatable {
        /// When the read returned, on the monotonic clock.
        public let time: Instant
        /// How many octets had come with it.
        public let total: Int
    }

    /// ``received`` as UTF-8, with U+FFFD for what is none.
    public var receivedText: String { String(decoding: received, as: UTF8.self) }
}
