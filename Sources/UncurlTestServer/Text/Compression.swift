internal import CUncurlZlib

/// The codings of `/gzip` and `/deflate` (RFC 9110 §8.4.1).
enum Compression {
    enum Form: CInt {
        case gzip = 31
        case zlib = 15
        /// DEFLATE without zlib's frame, which some servers send as "deflate" in breach of RFC 9110 §8.4.1.2.
        case raw = -15
    }

    /// Nil only if zlib has no memory.
    static func compress(_ bytes: [UInt8], as form: Form) -> [UInt8]? {
        var stream = unsafe z_stream()
        guard unsafe uncurl_deflateInit2(&stream, Z_DEFAULT_COMPRESSION, form.rawValue) == Z_OK else { return nil }
        defer { _ = unsafe deflateEnd(&stream) }
        // deflateBound covers every form; gzip's header fits into its margin.
        var out = [UInt8](repeating: 0, count: Int(unsafe deflateBound(&stream, UInt(bytes.count))) + 32)
        var input = bytes
        let finished = unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe out.withUnsafeMutableBufferPointer { out in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.avail_in = UInt32(clamping: input.count)
                unsafe stream.next_out = out.baseAddress
                unsafe stream.avail_out = UInt32(clamping: out.count)
                return unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
        }
        guard finished else { return nil }
        return unsafe Array(out.prefix(Int(stream.total_out)))
    }
}
