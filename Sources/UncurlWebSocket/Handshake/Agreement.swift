internal import UncurlHTTP1
import UncurlText

/// The result of a handshake.
public struct Agreement: Hashable, Sendable {
    /// The subprotocol; nil for none (RFC 6455 §1.9).
    public var subprotocol: String?
    /// The agreement on compression; nil for none.
    public var deflate: DeflateAgreement?

    /// An agreement from its parts.
    public init(subprotocol: String? = nil, deflate: DeflateAgreement? = nil) {
        self.subprotocol = subprotocol
        self.deflate = deflate
    }

    /// The fields of a handshake beside Connection and Upgrade.
    static let keyField = "Sec-WebSocket-Key"
    static let acceptField = "Sec-WebSocket-Accept"
    static let versionField = "Sec-WebSocket-Version"
    static let subprotocolField = "Sec-WebSocket-Protocol"
    static let extensionsField = "Sec-WebSocket-Extensions"

    /// RFC 6455 §4.2.2 (5.4): the base64 of the SHA-1 of the key as sent and this text.
    static func acceptance(of key: String) -> String {
        base64Text(sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }
}

/// SHA-1 (RFC 3174), for Sec-WebSocket-Accept alone: a proof that the peer has read the request, with nothing secret in
/// it (RFC 6455 §10.8). It has twenty lines, so that this room does not need OpenSSL.
extension Agreement {
    static func sha1(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        padded.append(bigEndian: UInt64(message.count) &* 8)
        for start in stride(from: 0, to: padded.count, by: 64) { add(padded[start..<start + 64], &state) }
        return state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
    }

    private static func add(_ block: ArraySlice<UInt8>, _ state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            words.append(rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            (a, b, c, d, e) = (rotate(a, 5) &+ mixed &+ e &+ word &+ constant, a, rotate(b, 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}

/// Words of header fields.
extension Agreement {
    /// The elements of a list, without blanks around them and without empty ones.
    static func list(_ values: [String]) -> [String] {
        values.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.map { trimmed(Substring($0)) }.filter {
            !$0.isEmpty
        }
    }

    /// Whether the values are that one text alone, blanks around it aside. Octets are compared: a long run of combining
    /// marks makes Swift's `==` slow.
    static func areOnly(_ text: String, _ values: [String]) -> Bool {
        values.count == 1 && trimmed(values[0]).utf8.elementsEqual(text.utf8)
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        String(decoding: Array(text.utf8).withoutBlanks, as: UTF8.self)
    }
}
