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
        self.init(opcode, wideLength: UInt64(clamping: length), isFinal, isCompressed, mask)
    }

    init(_ opcode: Opcode, wideLength: UInt64, _ isFinal: Bool, _ isCompressed: Bool, _ mask: Mask?) {
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.opcode = opcode
        self.mask = mask
        length = wideLength
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
            for shift in [8, 0] { output.append(UInt8(truncatingIfNeeded: length >> UInt64(shift))) }
        default:
            output.append(masked | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: length >> UInt64(shift)))
            }
        }
        if let mask {
            for index in 0..<4 { output.append(mask.octet(index)) }
        }
    }
}
