import CUncurlZlib
import Testing

@testable import UncurlEngine

extension CodingDecoder {
    /// Decodes `input` in pieces of `step` bytes, and ends it.
    func decodeWhole(_ input: [UInt8], step: Int) throws -> [UInt8] {
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1_000)
        defer { buffer.deallocate() }
        var output: [UInt8] = []
        var start = 0
        while start < input.count {
            let end = min(input.count, start + min(step, input.count))
            let piece = Array(input[start..<end])
            var offset = 0
            while true {
                let count = try decode(piece.span, from: &offset, into: buffer)
                if count == 0 { break }
                output += buffer[..<count]
            }
            #expect(offset == piece.count)
            start = end
        }
        try finish()
        return output
    }
}

/// Compresses with zlib. windowBits: 31 gzip, 15 zlib, -15 raw.
func compress(_ input: [UInt8], windowBits: CInt) -> [UInt8] {
    var stream = z_stream()
    #expect(uncurl_deflateInit2(&stream, 6, windowBits) == Z_OK)
    var input = input
    var output = [UInt8](repeating: 0, count: input.count + 1_024)
    let count = input.withUnsafeMutableBufferPointer { source in
        output.withUnsafeMutableBufferPointer { target in
            stream.next_in = source.baseAddress
            stream.avail_in = uInt(source.count)
            stream.next_out = target.baseAddress
            stream.avail_out = uInt(target.count)
            #expect(deflate(&stream, Z_FINISH) == Z_STREAM_END)
            return target.count - Int(stream.avail_out)
        }
    }
    deflateEnd(&stream)
    return Array(output[..<count])
}
