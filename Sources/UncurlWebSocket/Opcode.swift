// The WebSocket protocol (RFC 6455) and its compression (RFC 7692), for either side: octets in, messages out. It knows
// no sockets, no clocks and no HTTP beyond the values of its header fields.

/// The kind of a frame (RFC 6455 §5.2).
public enum Opcode: UInt8, Hashable, Sendable {
    /// The next part of a message.
    case continuation = 0x0
    /// A text message, or its first part.
    case text = 0x1
    /// A binary message, or its first part.
    case binary = 0x2
    /// The closing handshake.
    case close = 0x8
    /// Asks for a pong.
    case ping = 0x9
    /// The answer to a ping, or a sign of life.
    case pong = 0xA

    /// Whether it is a control frame (§5.5), which concerns the connection, is never fragmented, and may come between
    /// the fragments of a message.
    public var isControl: Bool { rawValue & 0x8 != 0 }
}
