/// One coded stream, by the library of its coding: zlib's, and libbrotli's and libzstd's behind their package traits.
/// Its input may be cut anywhere; after ``reset()`` it decodes another body.
enum CodedStream {
    case zlib(Inflater)
    #if Brotli
    case brotli(BrotliStream)
    #endif
    #if Zstd
    case zstd(ZstdStream)
    #endif

    init(_ coding: ContentCoding) throws(ContentDecodingError) {
        switch coding {
        case .gzip, .deflate: self = .zlib(try Inflater(coding))
        #if Brotli
        case .brotli: self = .brotli(try BrotliStream())
        #endif
        #if Zstd
        case .zstd: self = .zstd(try ZstdStream())
        #endif
        }
    }

    /// Ready for another body in the same coding.
    func reset() {
        switch self {
        case .zlib(let stream): stream.reset()
        #if Brotli
        case .brotli(let stream): stream.reset()
        #endif
        #if Zstd
        case .zstd(let stream): stream.reset()
        #endif
        }
    }

    /// No input has come, or the stream is complete: the content may end here.
    var mayEnd: Bool {
        switch self {
        case .zlib(let stream): stream.mayEnd
        #if Brotli
        case .brotli(let stream): stream.mayEnd
        #endif
        #if Zstd
        case .zstd(let stream): stream.mayEnd
        #endif
        }
    }

    /// Decodes from `input` into `output`; both counts may be short. If nothing was decoded, `input` is used up, and
    /// the library holds nothing back.
    func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> (consumed: Int, produced: Int) {
        switch self {
        case .zlib(let stream): try unsafe stream.inflate(input, into: output)
        #if Brotli
        case .brotli(let stream): try unsafe stream.decode(input, into: output)
        #endif
        #if Zstd
        case .zstd(let stream): try unsafe stream.decode(input, into: output)
        #endif
        }
    }
}
