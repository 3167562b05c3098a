internal import UncurlText

/// The reason in a Close frame (RFC 6455 §5.5.1).
public struct CloseReason: Hashable, Sendable {
    /// Nil if the frame has no code, which is reported as 1005 (§7.4.1).
    public let code: UInt16?
    /// UTF-8, at most 123 octets. Empty without a code.
    public let text: String

    /// A close frame without a body (RFC 6455 §7.1.5).
    public static let none = CloseReason(code: nil, text: "")

    private init(code: UInt16?, text: String) {
        self.code = code
        self.text = text
    }

    /// A reason as it was received. Only such a reason is sent back without a check.
    init(payload: [UInt8]) throws(WebSocketError) {
        guard !payload.isEmpty else {
            self = .none
            return
        }
        guard payload.count > 1 else { throw .violation(.shortClose) }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard CloseReason.maySend(code) else { throw .violation(.closeCode(code)) }
        var check = UTF8Check()
        guard check.take(payload.span.extracting(2...)), check.isComplete else { throw .invalidText }
        self.init(code: code, text: String(decoding: payload[2...], as: UTF8.self))
    }

    /// Nil for a code that may not be sent. A text that is too long is cut, at a character's end.
    public init?(_ code: UInt16, _ text: String = "") {
        guard CloseReason.maySend(code) else { return nil }
        self.init(code: code, text: CloseReason.cut(text))
    }

    init(_ error: WebSocketError) {
        self.init(code: error.closeCode, text: CloseReason.cut(error.description))
    }

    /// §7.4.1 and its registry: 1004 is reserved, 1005, 1006 and 1015 stand for what was not sent. §7.4.2: from 3000 on
    /// they belong to libraries and applications; the codes between are reserved for later versions of the protocol.
    public static func maySend(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    private static func cut(_ text: String) -> String {
        let limit = FrameHeader.maximumControlLength - 2
        guard text.utf8.count > limit else { return text }
        var kept = Substring(text.unicodeScalars.prefix(limit))
        while kept.utf8.count > limit { kept.unicodeScalars.removeLast() }
        return String(kept)
    }

    var payload: [UInt8] {
        guard let code else { return [] }
        return [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)] + Array(text.utf8)
    }
}
