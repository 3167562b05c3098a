/// Reads a frame's header, which may be cut at any octet, and checks the rules that need only the header.
struct FrameHeaderReader {
    /// The peer's role, which decides whether its frames are masked.
    private let sender: Role
    private let mayCompress: Bool
    private var isFinal = false
    private var isCompressed = false
    private var opcode = Opcode.continuation
    private var isMasked = false
    /// Octets of the extended length: 0, 2 or 8.
    private var extended = 0
    private var length: UInt64 = 0
    private var key: UInt32 = 0
    private var octets = 0

    init(from sender: Role, mayCompress: Bool) {
        self.sender = sender
        self.mayCompress = mayCompress
    }

    /// Whether no octet of a header has come yet.
    var isEmpty: Bool { octets == 0 }

    /// Returns the header when its last octet has come; the reader is then ready for the next. Nil if `input` is used
    /// up.
    mutating func read(_ input: Span<UInt8>, _ position: inout Int) throws(WebSocketError) -> FrameHeader? {
        while position < input.count {
            let octet = input[position]
            position += 1
            switch octets {
            case 0: try first(octet)
            case 1: try second(octet)
            case 2..<2 + extended: length = length << 8 | UInt64(octet)
            default: key = key << 8 | UInt32(octet)
            }
            octets += 1
            // Checked before the key is read, which may never come.
            if octets == 2 + extended { try checkLength() }
            if octets == 2 + extended + (isMasked ? 4 : 0) {
                octets = 0
                let mask = isMasked ? Mask(key) : nil
                var header = FrameHeader(opcode, length: 0, isFinal: isFinal, isCompressed: isCompressed, mask: mask)
                header.length = length
                return header
            }
        }
        return nil
    }

    /// %x8 FIN, %x7 RSV1 to RSV3, and the opcode.
    private mutating func first(_ octet: UInt8) throws(WebSocketError) {
        guard let opcode = Opcode(rawValue: octet & 0x0F) else { throw .violation(.unknownOpcode(octet & 0x0F)) }
        self.opcode = opcode
        isFinal = octet & 0x80 != 0
        isCompressed = octet & 0x40 != 0
        // RFC 7692 §6.1: the bit stands on a message's first frame, never on a control frame or a continuation.
        let startsMessage = opcode == .text || opcode == .binary
        guard octet & 0x30 == 0, !isCompressed || mayCompress && startsMessage else { throw .violation(.reservedBits) }
        guard isFinal || !opcode.isControl else { throw .violation(.fragmentedControl) }
        (extended, length, key) = (0, 0, 0)
    }

    private mutating func second(_ octet: UInt8) throws(WebSocketError) {
        isMasked = octet & 0x80 != 0
        guard isMasked == (sender == .client) else { throw .violation(.masking) }
        switch octet & 0x7F {
        case 126: extended = 2
        case 127: extended = 8
        case let short: length = UInt64(short)
        }
        guard extended == 0 || !opcode.isControl else { throw .violation(.longControl) }
    }

    private func checkLength() throws(WebSocketError) {
        switch extended {
        case 2:
            guard length > 125 else { throw .violation(.longLength) }
        case 8:
            guard length >> 63 == 0 else { throw .violation(.hugeLength) }
            guard length > 0xFFFF else { throw .violation(.longLength) }
        default: break
        }
    }
}
