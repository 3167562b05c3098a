internal import CUncurlZlib

/// A whole zlib stream (RFC 1950), packed or unpacked in one call. No other file of this module uses zlib.
enum ZlibStream {
    /// The largest content of a stream: 64 octets for each of its own. zlib packs a thousand into one, and a file may
    /// have hundreds of streams; the counters of a run are not regular enough for a tenth of this limit. The constant
    /// is for a small histogram of a regular test. The upper limit is that of an HdrHistogram: five digits over 64 bits
    /// have 4 million counters of at most nine octets.
    private static func limit(_ packed: Int) -> Int { min(4_096 + 64 * packed, 40 << 20) }

    /// Returns a stream that ``decompress(_:)`` accepts.
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        let packed = compress(bytes, level: Z_DEFAULT_COMPRESSION)
        return bytes.count <= limit(packed.count) ? packed : compress(bytes, level: Z_NO_COMPRESSION)
    }

    private static func compress(_ bytes: [UInt8], level: CInt) -> [UInt8] {
        var size = uLongf(compressBound(uLong(bytes.count)))
        var out = [UInt8](repeating: 0, count: Int(size))
        // `compress2` fails only without memory, or if the buffer is smaller than `compressBound` says.
        let status = unsafe out.withUnsafeMutableBufferPointer { out in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe CUncurlZlib.compress2(out.baseAddress, &size, bytes.baseAddress, uLong(bytes.count), level)
            }
        }
        return status == Z_OK ? Array(out.prefix(Int(size))) : []
    }

    static func decompress(_ bytes: some Collection<UInt8>) throws(HistogramError) -> [UInt8] {
        var input = Array(bytes)
        let limit = Self.limit(input.count)
        var out = [UInt8](repeating: 0, count: limit)
        var size = uLongf(limit)
        let status = unsafe out.withUnsafeMutableBufferPointer { out in
            unsafe input.withUnsafeMutableBufferPointer { input in
                unsafe CUncurlZlib.uncompress(out.baseAddress, &size, input.baseAddress, uLong(input.count))
            }
        }
        switch status {
        case Z_OK: return Array(out.prefix(Int(size)))
        case Z_BUF_ERROR where Int(size) == limit: throw .tooLarge(limit: limit)
        default: throw .notZlib
        }
    }
}
