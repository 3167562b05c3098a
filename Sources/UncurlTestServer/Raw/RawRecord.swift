public import UncurlReactor
public import UncurlTLS

/// What a ``RawServer`` saw of one connection.
public struct RawRecord: Sendable {
    /// When it was accepted, on the monotonic clock.
    public let connected: Instant
    /// The peer's address; nil for an unnamed unix socket.
    public let peer: SocketAddress?
    /// All received bytes, in order; over TLS, decrypted.
    public internal(set) var received: [UInt8] = []
    /// The reads: their times and the number of bytes so far.
    public internal(set) var arrivals: [Arrival] = []
    /// Whether the peer's FIN came.
    public internal(set) var sawFinish = false
    /// Whether the peer's RST came, or the kernel's for a write after the peer's close.
    public internal(set) var sawReset = false
    /// Whether the peer's close_notify came.
    public internal(set) var sawCloseNotify = false
    /// The result of the TLS handshake, once it has ended.
    public internal(set) var tls: TLSInfo?
    /// The server name that the client indicated.
    public internal(set) var serverName: String?
    /// Why TLS ended early, for example because of the peer's alert.
    public internal(set) var tlsError: TLSError?
    /// Bytes of the script that the kernel has accepted; over TLS, bytes of ciphertext.
    public internal(set) var sentCount = 0
    /// Steps of the script that are done, including those of earlier rounds.
    public internal(set) var stepsDone = 0
    /// Whether this side has closed the connection.
    public internal(set) var isClosed = false

    /// A read: its time, and the number of bytes received so far.
    public struct Arrival: Sendable, Equatable {
        /// When the read returned, on the monotonic clock.
        public let time: Instant
        /// The number of octets received up to this read.
        public let total: Int
    }

    /// ``received`` as UTF-8, with U+FFFD for invalid octets.
    public var receivedText: String { String(decoding: received, as: UTF8.self) }
}
