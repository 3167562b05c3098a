#if Brotli
internal import CUncurlBrotli

/// One brotli stream (RFC 7932). The only file that touches libbrotli's pointers. Its window is 16 MiB at most: the
/// larger ones of "large window brotli" are no part of the coding (RFC 7932 §9.1), and are refused.
@safe final class BrotliStream: CodedStream {
    private var decoder: OpaquePointer
    private var hasBegun = false
    private var isOver = false
    /// A decoder for the next body could not be made.
    private var isExhausted = false

    init() throws(ContentDecodingError) {
        guard let decoder = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else { throw .outOfMemory }
        unsafe self.decoder = unsafe decoder
    }

    deinit { unsafe BrotliDecoderDestroyInstance(decoder) }

    /// Ready for another body; libbrotli has no decoder that begins again.
    func reset() {
        (hasBegun, isOver) = (false, false)
        guard let next = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else {
            isExhausted = true
            return
        }
        unsafe BrotliDecoderDestroyInstance(decoder)
        unsafe decoder = next
        isExhausted = false
    }

    var mayEnd: Bool { !hasBegun || isOver }

    func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> (consumed: Int, produced: Int) {
        guard !isExhausted else { throw .outOfMemory }
        guard !isOver else {
            // A body is one stream, and nothing pads it.
            guard input.isEmpty else { throw .trailingBytes }
            return (0, 0)
        }
        if !input.isEmpty { hasBegun = true }
        var next = input.baseAddress
        var place = output.baseAddress
        var (left, room) = (input.count, output.count)
        let result = unsafe BrotliDecoderDecompressStream(decoder, &left, &next, &room, &place, nil)
        let (consumed, produced) = (input.count - left, output.count - room)
        switch result {
        case BROTLI_DECODER_RESULT_SUCCESS:
            isOver = true
            if left > 0 { throw .trailingBytes }
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: break
        default:
            let words = unsafe BrotliDecoderErrorString(BrotliDecoderGetErrorCode(decoder))
            throw unsafe .corrupt("brotli: \(words.map { unsafe String(cString: $0) } ?? "damaged")")
        }
        return (consumed, produced)
    }
}
#endif
