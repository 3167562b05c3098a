internal import CUncurlZlib
internal import URLLoading

/// Compresses data with zlib in one call. zlib's pointers do not leave this type.
enum Deflater {
    private static let step = 64 << 10

    static func compress(_ data: Data, _ coding: RequestCompression.Coding) throws(CompressionFailure) -> Data {
        // zlib keeps the address of its stream.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        defer { unsafe stream.deallocate() }
        guard unsafe uncurl_deflateInit2(stream, Z_DEFAULT_COMPRESSION, windowBits(coding)) == Z_OK else {
            throw .outOfMemory
        }
        defer { unsafe deflateEnd(stream) }
        var output = Data()
        var input = data[...]
        while true {
            // zlib counts in 32 bits.
            let piece = input.prefix(Int(Int32.max))
            input = input.dropFirst(piece.count)
            let isLast = input.isEmpty
            unsafe piece.withUnsafeBytes { bytes in
                let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: start)
                unsafe stream.pointee.avail_in = uInt(bytes.count)
                unsafe drain(stream, isLast ? Z_FINISH : Z_NO_FLUSH, into: &output)
            }
            if isLast { return output }
        }
    }

    /// Calls zlib until it leaves room in its output: then it has read all of its input and written all it has.
    private static func drain(_ stream: UnsafeMutablePointer<z_stream>, _ flush: CInt, into output: inout Data) {
        var isFull = true
        while isFull {
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: step) { buffer, count in
                unsafe stream.pointee.next_out = buffer.baseAddress
                unsafe stream.pointee.avail_out = uInt(step)
                _ = unsafe deflate(stream, flush)
                count = unsafe step - Int(stream.pointee.avail_out)
            }
            output.append(contentsOf: bytes)
            isFull = bytes.count == step
        }
    }

    private static func windowBits(_ coding: RequestCompression.Coding) -> CInt {
        switch coding {
        case .deflate: 15
        case .gzip: 15 + 16
        }
    }
}
