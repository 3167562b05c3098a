internal import TextCoding

/// A message of which more is to come.
struct IncomingMessage {
    private let isText: Bool
    let isCompressed: Bool
    private var bytes: [UInt8] = []
    private var check = UTF8Check()
    /// Frames that have begun.
    private(set) var fragmentCount = 0
    /// Octets of compressed frames that have begun.
    private var compressedLength: UInt64 = 0

    /// Set aside at once for a message that says its length: a peer that claims more must first send it.
    private static let reserved: UInt64 = 1 << 20
    /// What a compressed message may take more than it holds: a sender that flushes after each octet needs seven for
    /// it. Without a limit a message of empty blocks could go on for ever and never grow.
    private static let compressedFactor: UInt64 = 8
    /// The same for short ones: block headers, and empty blocks of a sender that has nothing to say.
    private static let compressedSurplus: UInt64 = 64 << 10

    init(_ header: FrameHeader) {
        isText = header.opcode == .text
        isCompressed = header.isCompressed
        if header.isFinal, !isCompressed { bytes.reserveCapacity(Int(min(header.length, IncomingMessage.reserved))) }
    }

    /// Whether a frame of this length may follow. What a compressed one comes to, only decompressing tells; here it is
    /// bounded by what it may take.
    func hasRoom(for length: UInt64, limit: Int) -> Bool {
        guard isCompressed else { return length <= UInt64(max(0, limit - bytes.count)) }
        let (most, isEndless) = UInt64(max(0, limit)).multipliedReportingOverflow(by: IncomingMessage.compressedFactor)
        let (sum, isTooMuch) = compressedLength.addingReportingOverflow(length)
        return isEndless || !isTooMuch && sum <= most &+ IncomingMessage.compressedSurplus
    }

    /// A frame begins that there is room for.
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

    /// After the last frame's payload.
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
