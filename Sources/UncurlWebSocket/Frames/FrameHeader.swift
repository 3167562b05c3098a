import UncurlText

/// The header of a frame (RFC 6455 §5.2).
public struct FrameHeader: Hashable, Sendable {
    /// Whether the frame is the last fragment of its message, or the only one.
    public var isFinal: Bool
    /// RSV1: whether the message is compressed (RFC 7692 §6). Only a message's first frame has it.
    public var isCompressed: Bool
    /// The kind of the frame.
    public var opcode: Opcode
    /// Octets of payload. The most significant bit is never set (§5.2).
    public var length: UInt64
    /// The key that the payload is masked with; nil for a server's frames.
    public var mask: Mask?

    /// A header from its parts.
    public init(
        _ opcode: Opcode,
        length: Int,
        isFinal: Bool = true,
        isCompressed: Bool = false,
        mask: Mask? = nil
    ) {
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.opcode = opcode
        self.mask = mask
        self.length = UInt64(clamping: length)
    }

    /// The most octets of a control frame's payload (§5.5).
    public static let maximumControlLength = 125

    /// Writes the header. The length takes as few octets as possible, as §5.2 requires.
    public func append(to output: inout [UInt8]) {
        output.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        let masked: UInt8 = mask == nil ? 0 : 0x80
        switch length {
        case ...125:
            output.append(masked | UInt8(truncatingIfNeeded: length))
        case ...0xFFFF:
            output.append(masked | 126)
            output.append(bigEndian: UInt16(length))
        default:
            output.append(masked | 127)
            output.append(bigEndian: length)
        }
        if let mask { output.append(bigEndian: mask.key.byteSwapped) }
    }
}

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

/// An end of the connection. The client masks its frames (RFC 6455 §5.1), and the server closes the transport (§7.1.1).
public enum Role: Hashable, Sendable {
    /// A client masks what it sends, and a server must not (RFC 6455 §5.1).
    case client, server
}

/// A masking key (RFC 6455 §5.3): four octets, with which a client's payload is combined by exclusive or, again and
/// again.
///
/// Each frame has a new key that cannot be predicted. So no page can make a browser write octets that a proxy on the
/// way takes for a request (§10.3).
public struct Mask: Hashable, Sendable {
    /// The octets as a number, the first in the lowest place, as they are in memory.
    fileprivate let key: UInt32

    /// - Parameter key: the octets as sent, the first in the highest place.
    public init(_ key: UInt32) { self.key = key.byteSwapped }

    /// Masks or unmasks `bytes` from `start` on, which is the same operation.
    ///
    /// - Parameter offset: how much of the payload came before.
    func apply(to bytes: inout [UInt8], from start: Int, offset: Int = 0) {
        let turn = UInt32(8 * (offset & 3))
        let turned = turn == 0 ? key : key >> turn | key << (32 - turn)
        let wide = UInt64(turned) << 32 | UInt64(turned)
        unsafe bytes.withUnsafeMutableBytes { bytes in
            var index = start
            // Eight octets a step: the compiler turns this into vector instructions.
            while bytes.count - index >= 8 {
                let word =
                    unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ wide
                unsafe bytes.storeBytes(of: word.littleEndian, toByteOffset: index, as: UInt64.self)
                index += 8
            }
            var rest = wide
            while index < bytes.count {
                unsafe bytes[index] ^= UInt8(truncatingIfNeeded: rest)
                rest >>= 8
                index += 1
            }
        }
    }
}
