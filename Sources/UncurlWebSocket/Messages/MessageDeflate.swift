internal import CUncurlZlib

/// Decompresses a peer's messages (RFC 7692 §7.2.2). zlib's pointers do not leave this file.
@safe final class MessageInflater {
    /// zlib keeps the address of its `z_stream`, so the stream may never move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool
    /// Whether any octet of the message has come.
    private var isUnderWay = false

    /// How much is written at a time, on the stack. A message grows with its content, whatever length the peer claims.
    private static let step = 16 << 10
    /// The largest window, whatever was agreed on: no reference in DEFLATE goes farther back (RFC 1951 §3.2.5). With a
    /// smaller window zlib refuses a longer reference only into the output of an earlier call, so the result would
    /// depend on how TCP divides the octets.
    private static let windowBits: CInt = 15
    /// The end of a message, which every sender leaves out: an empty block without compression (§7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// - Parameter keepsContext: whether a message may refer back to earlier ones.
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

    /// Decompresses `input` into `message`. Fails as soon as `message` has more than `limit` octets.
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

    /// Ends the message, whose last octet has come.
    func finish(into message: inout [UInt8], limit: Int) throws(WebSocketError) {
        // Some senders write an empty message without any octet: then no block must be ended.
        guard isUnderWay else { return }
        isUnderWay = false
        try feed(MessageInflater.tail.span, &message, limit)
        // zlib tells whether the input ends between two blocks. If it ends inside one, the message was cut, and the end
        // above was read as content.
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

    /// Returns false if the input is used up and all output is written.
    private func step(
        _ output: UnsafeMutableBufferPointer<UInt8>,
        _ message: inout [UInt8],
        _ limit: Int
    ) throws(WebSocketError) -> Bool {
        unsafe stream.pointee.next_out = output.baseAddress
        unsafe stream.pointee.avail_out = uInt(clamping: output.count)
        let code = unsafe CUncurlZlib.inflate(stream, Z_SYNC_FLUSH)
        let room = unsafe Int(stream.pointee.avail_out)
        unsafe message.append(contentsOf: output.prefix(output.count - room))
        guard message.count <= limit else { throw .messageTooBig(limit: limit) }
        switch code {
        case Z_OK:
            return unsafe stream.pointee.avail_in > 0 || room == 0
        case Z_BUF_ERROR:
            return false
        case Z_STREAM_END:
            // §7.2.3.4: a block may be marked as the last one. The next block uses the same window, which this call
            // keeps.
            unsafe inflateResetKeep(stream)
            return unsafe stream.pointee.avail_in > 0
        case Z_MEM_ERROR:
            throw .outOfMemory
        default:
            throw unsafe .corrupt(stream.pointee.msg.map { unsafe String(cString: $0) } ?? "zlib error \(code)")
        }
    }
}

/// Compresses messages to send (RFC 7692 §7.2.1). It takes 256 KiB with a window of 15 bits. zlib's pointers do not
/// leave this file.
@safe package final class MessageDeflater {
    /// zlib keeps the address of its `z_stream`, so the stream may never move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool

    private static let stepSize = 16 << 10

    /// Nil if zlib has no memory, or does not support so small a window (256 octets). Then messages are sent without
    /// compression, which §6 allows for each.
    convenience init?(windowBits: Int, keepsContext: Bool) {
        guard windowBits > 8 else { return nil }
        self.init(-CInt(clamping: windowBits), keepsContext)
    }

    /// - Parameter windowBits: below zero for no frame, 15 for zlib's (RFC 1950), 31 for gzip's (RFC 1952).
    private init?(_ windowBits: CInt, _ keepsContext: Bool) {
        self.keepsContext = keepsContext
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe uncurl_deflateInit2(stream, Z_DEFAULT_COMPRESSION, windowBits) == Z_OK else {
            unsafe stream.deallocate()
            return nil
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses a whole message, which must not be empty: zlib has no output for an empty one.
    func deflate(_ message: Span<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        feed(message, &result, Z_SYNC_FLUSH)
        // The flush ends with an empty block without compression, whose last four octets are not sent.
        result.removeLast(min(4, result.count))
        if !keepsContext { unsafe deflateReset(stream) }
        return result
    }

    /// Octets as one stream of zlib. Nil only if zlib has no memory.
    package static func stream(of octets: Span<UInt8>, windowBits: CInt) -> [UInt8]? {
        guard let deflater = MessageDeflater(windowBits, false) else { return nil }
        var result: [UInt8] = []
        deflater.feed(octets, &result, Z_FINISH)
        return result
    }

    /// zlib counts in 32 bits.
    private func feed(_ octets: Span<UInt8>, _ result: inout [UInt8], _ flush: CInt) {
        let most = Int(CInt.max)
        var rest = octets
        while rest.count > most {
            step(rest.extracting(first: most), &result, Z_NO_FLUSH)
            rest = rest.extracting(droppingFirst: most)
        }
        step(rest, &result, flush)
    }

    private func step(_ input: Span<UInt8>, _ result: inout [UInt8], _ flush: CInt) {
        unsafe input.withUnsafeBufferPointer { input in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = uInt(clamping: input.count)
            unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: MessageDeflater.stepSize) { output in
                repeat {
                    unsafe stream.pointee.next_out = output.baseAddress
                    unsafe stream.pointee.avail_out = uInt(clamping: output.count)
                    _ = unsafe CUncurlZlib.deflate(stream, flush)
                    unsafe result.append(contentsOf: output.prefix(output.count - Int(stream.pointee.avail_out)))
                } while unsafe stream.pointee.avail_out == 0
            }
        }
    }
}
