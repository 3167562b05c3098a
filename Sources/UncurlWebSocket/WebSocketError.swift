// The WebSocket protocol (RFC 6455) and its compression (RFC 7692), for either side: octets in, messages out. It knows
// no sockets, no clocks and no HTTP beyond the values of its header fields.

/// The rule that a peer has broken, or the limit that it has exceeded. The connection fails for it (RFC 6455 §7.1.7).
public enum WebSocketError: Error, Hashable, Sendable {
    /// It broke the protocol.
    case violation(ProtocolViolation)
    /// A text message, or the reason of a Close, is not UTF-8 (§8.1).
    case invalidText
    /// A message is longer than this limit, in octets.
    case messageTooBig(limit: Int)
    /// A message has more fragments than this limit.
    case tooManyFragments(limit: Int)
    /// A compressed message does not decompress: zlib's verdict.
    case corrupt(String)
    /// zlib has no memory for its window. This is not the peer's fault.
    case outOfMemory

    /// The code of the Close that tells the peer (§7.4.1).
    public var closeCode: UInt16 {
        switch self {
        case .violation: 1002
        case .invalidText, .corrupt: 1007
        case .messageTooBig: 1009
        case .tooManyFragments: 1008
        case .outOfMemory: 1011
        }
    }
}

/// Which rule of RFC 6455 was broken.
public enum ProtocolViolation: Hashable, Sendable {
    /// One of RSV1 to RSV3 is set, and no extension gives it a meaning (§5.2; RFC 7692 §6.1).
    case reservedBits
    /// The frame's opcode is one that RFC 6455 §5.2 reserves.
    case unknownOpcode(UInt8)
    /// A client's frame is not masked, or a server's frame is (§5.1).
    case masking
    /// A length is written in more octets than it needs (§5.2).
    case longLength
    /// A length is 2^63 or more (§5.2).
    case hugeLength
    /// A control frame is fragmented (§5.5).
    case fragmentedControl
    /// A control frame has more than 125 octets (§5.5).
    case longControl
    /// A continuation frame follows no message (§5.4).
    case strayContinuation
    /// A message begins before the fragments of another have ended (§5.4).
    case interleavedMessage
    /// A Close has one octet of payload (§5.5.1).
    case shortClose
    /// A Close has a code that no endpoint may send (§7.4).
    case closeCode(UInt16)
}

extension WebSocketError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .violation(let violation): violation.description
        case .invalidText: "text that is not UTF-8"
        case .messageTooBig(let limit): "a message of more than \(limit) bytes; maximumMessageSize sets the limit"
        case .tooManyFragments(let limit):
            "a message in more than \(limit) fragments; a larger maximumMessageSize allows more"
        case .corrupt(let reason): "a compressed message that does not decompress: \(reason)"
        case .outOfMemory: "no memory to decompress a message"
        }
    }
}

extension ProtocolViolation: CustomStringConvertible {
    public var description: String {
        switch self {
        case .reservedBits: "a reserved bit that means nothing here"
        case .unknownOpcode(let opcode): "the unknown opcode \(opcode)"
        case .masking: "a frame masked by a server, or not masked by a client"
        case .longLength: "a length in more octets than it needs"
        case .hugeLength: "a length beyond 63 bits"
        case .fragmentedControl: "a control frame in fragments"
        case .longControl: "a control frame of more than 125 octets"
        case .strayContinuation: "a continuation of no message"
        case .interleavedMessage: "a message within another"
        case .shortClose: "a close frame of one octet"
        case .closeCode(let code): "the close code \(code), which no peer may send"
        }
    }
}
