internal import UncurlText

/// One end of a WebSocket, without the socket: octets in, events out, and the octets to send.
///
/// ```
///   open ──close──▶ closing ──the peer's Close──▶ closed
///     ├──the peer's Close, which is answered────▶ closed
///     └──a broken rule, from closing too────────▶ failed
/// ```
/// open: both sides may send anything. closing: our Close has been sent, and nothing of ours may follow; what the peer
/// sends before its own still counts. closed, failed: nothing more is sent, and what comes is passed over (RFC 6455
/// §7.1.7). Nothing leads back.
public struct WebSocketMachine: ~Copyable {
    /// Where the conversation stands.
    public enum State: Hashable, Sendable {
        /// Both ends may send messages.
        case open
        /// A close frame has gone out, and the peer's has not come.
        case closing
        /// The peer's close frame has come.
        case closed(CloseReason)
        /// The peer broke a rule; nothing more is read.
        case failed(WebSocketError)
    }

    /// What the peer sent.
    public enum Event: Hashable, Sendable {
        /// A whole message.
        case message(WebSocketMessage)
        /// A ping, to be answered with ``WebSocketMachine/pong(_:)``. Of several pings without an answer, only the last
        /// needs one (§5.5.3).
        case ping([UInt8])
        /// A pong with its payload.
        case pong([UInt8])
        /// The peer's Close, which is the last event. The output has this end's Close, unless it was sent before.
        case closed(CloseReason)
    }

    /// Which end this is.
    public let role: Role
    /// Where the conversation stands.
    public private(set) var state = State.open
    /// The most octets of a decompressed message. A change applies from the next frame on.
    public var maximumMessageSize: Int
    /// The most fragments of a message. A change applies from the next frame on.
    public var maximumFragmentCount: Int
    private var output: [UInt8] = []
    private var reader: FrameHeaderReader
    /// The frame whose payload is being read, and how much of that is left; nil before its header is complete.
    private var frame: (header: FrameHeader, left: UInt64)?
    private var incoming: IncomingMessage?
    /// A control frame's payload so far.
    private var control: [UInt8] = []
    private let deflate: DeflateAgreement?
    private var inflater: MessageInflater?
    private var deflater: MessageDeflater?
    private var compresses: Bool
    private var random = SystemRandomNumberGenerator()
    private var spareKey: UInt32?

    /// The length below which a message is not compressed: compressing it would take longer than sending the octets
    /// that this saves.
    static let compressedLength = 64

    /// The usual limit on the fragments of a message. With fragments of 64 octets a message may have 8 MiB. Fragments
    /// may be empty, so without this limit a message might never end and never grow.
    public static let defaultFragmentCount = 1 << 17

    /// The machine of a conversation that the opening handshake has just begun.
    public init(
        _ role: Role,
        deflate: DeflateAgreement? = nil,
        maximumMessageSize: Int = 1 << 20,
        maximumFragmentCount: Int = WebSocketMachine.defaultFragmentCount
    ) {
        self.role = role
        self.deflate = deflate
        self.maximumMessageSize = maximumMessageSize
        self.maximumFragmentCount = maximumFragmentCount
        compresses = deflate != nil
        reader = FrameHeaderReader(from: role == .client ? .server : .client, mayCompress: deflate != nil)
    }

    /// Returns the octets to send, and removes them.
    public mutating func takeOutput() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &output)
        return taken
    }

    /// Whether bytes wait to be sent.
    public var hasOutput: Bool { !output.isEmpty }

    // MARK: To the peer

    /// Returns false if the conversation is not open any more: then nothing is sent.
    public mutating func send(_ message: WebSocketMessage) -> Bool {
        switch message {
        case .text(let text): send(text.utf8Span.span, as: .text)
        case .binary(let bytes): send(bytes.span, as: .binary)
        }
    }

    private mutating func send(_ payload: Span<UInt8>, as opcode: Opcode) -> Bool {
        guard case .open = state else { return false }
        if payload.count >= WebSocketMachine.compressedLength, let deflater = takeDeflater() {
            append(opcode, deflater.deflate(payload).span, isCompressed: true)
        } else {
            append(opcode, payload)
        }
        return true
    }

    /// Returns false if the conversation is not open any more, or if the payload has more than 125 octets.
    public mutating func ping(_ payload: [UInt8]) -> Bool {
        guard case .open = state, payload.count <= FrameHeader.maximumControlLength else { return false }
        append(.ping, payload.span)
        return true
    }

    /// Answers a ping, unless this end has sent its Close, after which nothing may follow.
    public mutating func pong(_ payload: [UInt8]) {
        guard case .open = state, payload.count <= FrameHeader.maximumControlLength else { return }
        append(.pong, payload.span)
    }

    /// Begins the closing handshake. Returns false if it has begun before, or if the connection has failed.
    public mutating func close(_ reason: CloseReason) -> Bool {
        guard case .open = state else { return false }
        append(.close, reason.payload.span)
        state = .closing
        return true
    }

    private mutating func append(_ opcode: Opcode, _ payload: Span<UInt8>, isCompressed: Bool = false) {
        let mask = role == .client ? Mask(nextKey()) : nil
        if output.isEmpty { output.reserveCapacity(payload.count + 14) }
        FrameHeader(opcode, length: payload.count, isCompressed: isCompressed, mask: mask).append(to: &output)
        let start = output.count
        output.append(payload)
        mask?.apply(to: &output, from: start)
    }

    /// §5.3: keys come from a strong source of randomness. One system call gives two.
    private mutating func nextKey() -> UInt32 {
        if let key = spareKey.take() { return key }
        let both: UInt64 = random.next()
        spareKey = UInt32(truncatingIfNeeded: both >> 32)
        return UInt32(truncatingIfNeeded: both)
    }

    private mutating func takeDeflater() -> MessageDeflater? {
        guard compresses, let deflate else { return nil }
        if deflater == nil {
            let isClient = role == .client
            deflater = MessageDeflater(
                windowBits: isClient ? deflate.clientWindowBits : deflate.serverWindowBits,
                keepsContext: isClient ? !deflate.clientForgets : !deflate.serverForgets
            )
            compresses = deflater != nil
        }
        return deflater
    }

    // MARK: From the peer

    /// Takes received octets, from `position` on, up to the next event. Nil if `input` is used up.
    ///
    /// After an error the state is `failed`, and the output has the Close for it.
    public mutating func receive(_ input: Span<UInt8>, _ position: inout Int) throws(WebSocketError) -> Event? {
        switch state {
        case .open, .closing: break
        case .closed, .failed:
            position = input.count
            return nil
        }
        do throws(WebSocketError) {
            return try advance(input, &position)
        } catch {
            position = input.count
            if case .open = state { append(.close, CloseReason(error).payload.span) }
            state = .failed(error)
            forget()
            throw error
        }
    }

    private mutating func advance(_ input: Span<UInt8>, _ position: inout Int) throws(WebSocketError) -> Event? {
        while true {
            guard let (header, left) = frame else {
                guard let header = try reader.read(input, &position) else { return nil }
                try begin(header)
                frame = (header, header.length)
                continue
            }
            let count = Int(min(left, UInt64(input.count - position)))
            if count > 0 {
                try take(input.extracting(position..<position + count), header, at: header.length - left)
                position += count
            }
            frame = left > UInt64(count) ? (header, left - UInt64(count)) : nil
            if frame != nil { return nil }
            if let event = try end(header) { return event }
        }
    }

    private mutating func begin(_ header: FrameHeader) throws(WebSocketError) {
        switch header.opcode {
        case .close, .ping, .pong:
            return
        case .continuation:
            guard incoming != nil else { throw .violation(.strayContinuation) }
        case .text, .binary:
            guard incoming == nil else { throw .violation(.interleavedMessage) }
            incoming = IncomingMessage(header)
        }
        if incoming?.hasRoom(for: header.length, limit: maximumMessageSize) != true {
            throw .messageTooBig(limit: maximumMessageSize)
        }
        incoming?.begin(header)
        if let fragments = incoming?.fragmentCount, fragments > maximumFragmentCount {
            throw .tooManyFragments(limit: maximumFragmentCount)
        }
    }

    private mutating func take(_ payload: Span<UInt8>, _ header: FrameHeader, at offset: UInt64) throws(WebSocketError)
    {
        // The mask depends on its last two bits only.
        let offset = Int(truncatingIfNeeded: offset & 3)
        guard !header.opcode.isControl else {
            let before = control.count
            control.append(payload)
            header.mask?.apply(to: &control, from: before, offset: offset)
            return
        }
        let inflater = try inflaterInUse()
        try incoming?.take(payload, header.mask, offset, inflater, limit: maximumMessageSize)
    }

    private mutating func end(_ header: FrameHeader) throws(WebSocketError) -> Event? {
        guard header.opcode.isControl else {
            guard header.isFinal else { return nil }
            let inflater = try inflaterInUse()
            guard var message = incoming.take() else { return nil }
            return .message(try message.finish(inflater, limit: maximumMessageSize))
        }
        let payload = control
        control = []
        switch header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        case .continuation, .text, .binary, .close: return .closed(try closed(payload))
        }
    }

    /// §5.5.1: a Close is answered by another one, usually with the same code.
    private mutating func closed(_ payload: [UInt8]) throws(WebSocketError) -> CloseReason {
        let reason = try CloseReason(payload: payload)
        if case .open = state { append(.close, reason.payload.span) }
        state = .closed(reason)
        forget()
        return reason
    }

    /// The inflater of the present message. It is made for the first compressed message.
    private mutating func inflaterInUse() throws(WebSocketError) -> MessageInflater? {
        guard incoming?.isCompressed == true, let deflate else { return nil }
        if let inflater { return inflater }
        let isClient = role == .client
        let made = try MessageInflater(keepsContext: isClient ? !deflate.serverForgets : !deflate.clientForgets)
        inflater = made
        return made
    }

    /// Nothing of this is needed any more.
    private mutating func forget() {
        incoming = nil
        control = []
        inflater = nil
        deflater = nil
    }
}

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
        var octets: [UInt8] = []
        octets.append(bigEndian: code)
        return octets + Array(text.utf8)
    }
}
