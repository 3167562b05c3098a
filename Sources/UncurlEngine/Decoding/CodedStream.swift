/// One coded stream, by the library of its coding: zlib's, and libbrotli's and libzstd's behind their package traits.
/// Its input may be cut anywhere; after ``reset()`` it decodes another body.
protocol CodedStream: AnyObject {
    func reset()

    /// No input has come, or the stream is complete: the content may end here.
    var mayEnd: Bool { get }

    /// Decodes from `input` into `output`; both counts may be short. If nothing was decoded, `input` is used up, and
    /// the library holds nothing back.
    func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> (consumed: Int, produced: Int)
}

#if Zstd
internal import CUncurlZstd

/// One body in Zstandard (RFC 8878): frames one after the other. The only file that touches libzstd's pointers. A
/// window larger than 8 MiB is refused, as HTTP has it (RFC 9659 §3).
@safe final class ZstdStream: CodedStream {
    private let decoder: OpaquePointer
    /// Between two frames, or before the first.
    private var isBetween = true
    /// The last output was full: there may be more without more input. libzstd refuses to be asked in vain.
    private var isHoldingBack = false

    /// Of the window: 2 to the power of 23.
    private static let windowLog: CInt = 23

    init() throws(ContentDecodingError) {
        guard let decoder = unsafe ZSTD_createDCtx() else { throw .outOfMemory }
        unsafe self.decoder = unsafe decoder
        _ = unsafe ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, ZstdStream.windowLog)
    }

    deinit { _ = unsafe ZSTD_freeDCtx(decoder) }

    /// Ready for another body, with its window already there.
    func reset() {
        (isBetween, isHoldingBack) = (true, false)
        _ = unsafe ZSTD_DCtx_reset(decoder, ZSTD_reset_session_only)
    }

    var mayEnd: Bool { isBetween }

    func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> (consumed: Int, produced: Int) {
        var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        while unsafe target.pos == 0, unsafe isHoldingBack || source.pos < source.size {
            let code = unsafe ZSTD_decompressStream(decoder, &target, &source)
            guard ZSTD_isError(code) == 0 else { throw ZstdStream.error(code) }
            isBetween = code == 0
            isHoldingBack = unsafe code != 0 && target.pos == target.size
        }
        return unsafe (source.pos, target.pos)
    }

    private static func error(_ code: Int) -> ContentDecodingError {
        switch ZSTD_getErrorCode(code) {
        case ZSTD_error_memory_allocation: .outOfMemory
        case ZSTD_error_dictionary_wrong: .presetDictionary
        default: unsafe .corrupt("zstd: \(String(cString: ZSTD_getErrorName(code)))")
        }
    }
}
#endif
