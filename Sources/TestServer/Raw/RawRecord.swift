public import Reactor

/// What a ``RawServer`` saw of one connection.
public struct RawRecord: Sendable {
    /// When it was accepted, on the monotonic clock.
    public let connected: Instant
    /// The peer's end; nil for a nameless unix socket.
    public let peer: SocketAddress?
    /// Every byte that came, in order.
    public internal(set) var received: [UInt8] = []
    /// When bytes came, and how many had come by then: one entry a read.
    public internal(set) var arrivals: [Arrival] = []
    /// The peer's FIN came.
    public internal(set) var sawFinish = false
    /// The peer's RST came (or the kernel's, for writing after its close).
    public internal(set) var sawReset = false
    /// Bytes of the script that the kernel took.
    public internal(set) var sentCount = 0
    /// Steps of the script that were done, those of earlier rounds included.
    public internal(set) var stepsDone = 0
    /// This side has closed the connection.
    public internal(set) var isClosed = false

    /// A read: when, and the bytes received so far with it.
    public struct Arrival: Sendable, Equatable {
        public let time: Instant
        public let total: Int
    }

    public var receivedText: String { String(decoding: received, as: UTF8.self) }
}
