internal import CZlib

/// Decompresses what a peer sends (RFC 7692 §7.2.2). zlib's pointers stay in here.
@safe final class MessageInflater {
    /// zlib keeps the address of its `z_stream`, so the stream may never move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool
    /// Something of the message has come.
    private var isUnderWay = false

    /// Written at a time, on the stack: a message grows by what it holds, not by what its peer claims.
    private static let step = 16 << 10
    /// The largest window, whatever was agreed on. With a smaller one zlib refuses what refers farther back only where
    /// that was written by an earlier call, so that its verdict would hang on how TCP cuts. Nothing in DEFLATE refers
    /// farther back than this (RFC 1951 §3.2.5).
    private static let windowBits: CInt = 15
    /// What every sender leaves away at a message's end: an empty block without compression (§7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// - Parameter keepsContext: the peer may refer back into messages before.
    init(keepsContext: Bool) throws(WebSocketError) {
        self.keepsContext = keepsContext
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe uncurl_inflateInit2(stream, -MessageInflater.windowBits) == Z_OK else {
            unsafe stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Appends to `message` what `input` stands for; fails as soon as `message` has more than `limit` octets.
    func inflate(_ input: Span<UInt8>, into message: inout [UInt8], limit: Int) throws(WebSocketError) {
        guard !input.isEmpty else { return }
        isUnderWay = true
        // zlib counts in 32 bits.
        let most = Int(CInt.max)
        var rest = input
        while true {
            try feed(rest.extracting(first: most), &message, limit)
            guard rest.count > most else { return }
            rest = rest.extracting(droppingFirst: most)
        }
    }

    /// The message's last octet has come.
    func finish(into message: inout [UInt8], limit: Int) throws(WebSocketError) {
        // Without any, as some senders write the empty message: there is no block to end.
        guard isUnderWay else { return }
        isUnderWay = false
        try feed(MessageInflater.tail.span, &message, limit)
        // zlib says whether it stands between two blocks. Inside of one the message was cut, and the tail taken for
        // content.
        guard unsafe stream.pointee.data_type & 128 != 0 else { throw .corrupt("it is cut short") }
        if !keepsContext { unsafe inflateReset(stream) }
    }

    private func feed(_ input: Span<UInt8>, _ message: inout [UInt8], _ limit: Int) throws(WebSocketError) {
        var error: WebSocketError?
        unsafe input.withUnsafeBufferPointer { input in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = uInt(clamping: input.count)
            unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: MessageInflater.step) { output in
                do throws(WebSocketError) {
                    while try unsafe step(output, &message, limit) {}
                } catch let caught {
                    error = caught
                }
            }
        }
        if let error { throw error }
    }

    /// False: the input is used up, and all of it written.
    private func step(
        _ output: UnsafeMutableBufferPointer<UInt8>,
        _ message: inout [UInt8],
        _ limit: Int
    ) throws(WebSocketError) -> Bool {
        unsafe stream.pointee.next_out = output.baseAddress
        unsafe stream.pointee.avail_out = uInt(clamping: output.count)
        let code = unsafe CZlib.inflate(stream, Z_SYNC_FLUSH)
        let room = unsafe Int(stream.pointee.avail_out)
        unsafe message.append(contentsOf: output.prefix(output.count - room))
        guard message.count <= limit else { throw .messageTooBig(limit: limit) }
        switch code {
        case Z_OK:
            return unsafe stream.pointee.avail_in > 0 || room == 0
        case Z_BUF_ERROR:
            return false
        case Z_STREAM_END:
            // §7.2.3.4: a block may call itself the last. The next goes on with the same window, which this call
            // leaves where it is.
            unsafe inflateResetKeep(stream)
            return unsafe stream.pointee.avail_in > 0
        case Z_MEM_ERROR:
            throw .outOfMemory
        default:
            throw unsafe .corrupt(stream.pointee.msg.map { unsafe String(cString: $0) } ?? "zlib error \(code)")
        }
    }
}
