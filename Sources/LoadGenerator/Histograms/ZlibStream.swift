internal import CZlib

/// A whole zlib stream (RFC 1950), packed or unpacked in one call. No other file of this module uses zlib.
enum ZlibStream {
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var size = uLongf(compressBound(uLong(bytes.count)))
        var out = [UInt8](repeating: 0, count: Int(size))
        // `compress2` fails only without memory, or if the buffer is smaller than `compressBound` says.
        let status = unsafe out.withUnsafeMutableBufferPointer { out in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe CZlib.compress2(out.baseAddress, &size, bytes.baseAddress, uLong(bytes.count), 6)
            }
        }
        return status == Z_OK ? Array(out.prefix(Int(size))) : []
    }

    /// - Parameter limit: The largest size of the content: a small stream can hold a thousand times its size.
    static func decompress(_ bytes: some Collection<UInt8>, limit: Int) throws(HistogramError) -> [UInt8] {
        var input = Array(bytes)
        var out = [UInt8](repeating: 0, count: limit)
        var size = uLongf(limit)
        let status = unsafe out.withUnsafeMutableBufferPointer { out in
            unsafe input.withUnsafeMutableBufferPointer { input in
                unsafe CZlib.uncompress(out.baseAddress, &size, input.baseAddress, uLong(input.count))
            }
        }
        switch status {
        case Z_OK: return Array(out.prefix(Int(size)))
        case Z_BUF_ERROR where Int(size) == limit: throw .tooLarge(limit: limit)
        default: throw .notZlib
        }
    }
}
