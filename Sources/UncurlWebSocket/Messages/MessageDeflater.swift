internal import CUncurlZlib

/// Compresses messages to send (RFC 7692 §7.2.1). It takes 256 KiB with a window of 15 bits. zlib's pointers do not
/// leave this file.
@safe final class MessageDeflater {
    /// zlib keeps the address of its `z_stream`, so the stream may never move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool

    private static let step = 16 << 10

    /// Nil if zlib has no memory, or does not support so small a window (256 octets). Then messages are sent without
    /// compression, which §6 allows for each.
    init?(windowBits: Int, keepsContext: Bool) {
        self.keepsContext = keepsContext
        guard windowBits > 8 else { return nil }
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe uncurl_deflateInit2(stream, Z_DEFAULT_COMPRESSION, -CInt(clamping: windowBits)) == Z_OK else {
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
        let most = Int(CInt.max)
        var rest = message
        while true {
            feed(rest.extracting(first: most), &result)
            guard rest.count > most else { break }
            rest = rest.extracting(droppingFirst: most)
        }
        // The flush ends with an empty block without compression, whose last four octets are not sent.
        result.removeLast(min(4, result.count))
        if !keepsContext { unsafe deflateReset(stream) }
        return result
    }

    private func feed(_ input: Span<UInt8>, _ result: inout [UInt8]) {
        unsafe input.withUnsafeBufferPointer { input in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = uInt(clamping: input.count)
            unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: MessageDeflater.step) { output in
                repeat {
                    unsafe stream.pointee.next_out = output.baseAddress
                    unsafe stream.pointee.avail_out = uInt(clamping: output.count)
                    _ = unsafe CUncurlZlib.deflate(stream, Z_SYNC_FLUSH)
                    unsafe result.append(contentsOf: output.prefix(output.count - Int(stream.pointee.avail_out)))
                } while unsafe stream.pointee.avail_out == 0
            }
        }
    }
}
