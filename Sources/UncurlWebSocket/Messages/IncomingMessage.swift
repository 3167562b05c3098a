internal import UncurlText

/// A message that is not complete yet.
struct IncomingMessage {
    private let isText: Bool
    let isCompressed: Bool
    private var bytes: [UInt8] = []
    private var check = UTF8Check()
    /// How many frames have begun.
    private(set) var fragmentCount = 0
    /// How many octets the compressed frames have that have begun.
    private var compressedLength: UInt64 = 0

    /// How much memory is reserved at once for a message that announces its length. A peer that announces more must
    /// send it first.
    private static let reserved: UInt64 = 1 << 20
    /// How many times longer than its content a compressed message may be. A sender that flushes after each octet needs
    /// seven octets for it. Without a limit a message of empty blocks might never end and never grow.
    private static let compressedFactor: UInt64 = 8
    /// How many octets more a short compressed message may have: its block headers, and the empty blocks of a sender
    /// that is idle.
    private static let compressedSurplus: UInt64 = 64 << 10

    init(_ header: FrameHeader) {
        isText = header.opcode == .text
        isCompressed = header.isCompressed
        if header.isFinal, !isCompressed { bytes.reserveCapacity(Int(min(header.length, IncomingMessage.reserved))) }
    }

    /// Whether a frame of this length may follow. The length of a decompressed frame is not known yet, so a compressed
    /// one is limited by its own length.
    func hasRoom(for length: UInt64, limit: Int) -> Bool {
        guard isCompressed else { return length <= UInt64(max(0, limit - bytes.count)) }
        let (most, isEndless) = UInt64(max(0, limit)).multipliedReportingOverflow(by: IncomingMessage.compressedFactor)
        let (sum, isTooMuch) = compressedLength.addingReportingOverflow(length)
        return isEndless || !isTooMuch && sum <= most &+ IncomingMessage.compressedSurplus
    }

    /// Notes that a frame begins, for which there is room.
    mutating func begin(_ header: FrameHeader) {
        fragmentCount += 1
        if isCompressed { compressedLength &+= header.length }
    }

    /// Takes a part of a frame's payload, `offset` octets into it.
    mutating func take(
        _ payload: Span<UInt8>,
        _ mask: Mask?,
        _ offset: Int,
        _ inflater: MessageInflater?,
        limit: Int
    ) throws(WebSocketError) {
        let before = bytes.count
        guard let inflater else {
            bytes.append(payload)
            mask?.apply(to: &bytes, from: before, offset: offset)
            return try checkText(from: before)
        }
        if let mask {
            var unmasked: [UInt8] = []
            unmasked.append(payload)
            mask.apply(to: &unmasked, from: 0, offset: offset)
            try inflater.inflate(unmasked.span, into: &bytes, limit: limit)
        } else {
            try inflater.inflate(payload, into: &bytes, limit: limit)
        }
        try checkText(from: before)
    }

    /// Returns the whole message. Called after the last frame's payload.
    mutating func finish(_ inflater: MessageInflater?, limit: Int) throws(WebSocketError) -> WebSocketMessage {
        let before = bytes.count
        try inflater?.finish(into: &bytes, limit: limit)
        try checkText(from: before)
        guard isText else { return .binary(bytes) }
        guard check.isComplete else { throw .invalidText }
        return .text(String(decoding: bytes, as: UTF8.self))
    }

    private mutating func checkText(from start: Int) throws(WebSocketError) {
        guard isText else { return }
        var check = check
        guard check.take(bytes.span.extracting(start...)) else { throw .invalidText }
        self.check = check
    }
}

/// A whole message of an application, joined from its fragments and decompressed.
public enum WebSocketMessage: Hashable, Sendable {
    /// A text message, in valid UTF-8.
    case text(String)
    /// A binary message.
    case binary([UInt8])
}
