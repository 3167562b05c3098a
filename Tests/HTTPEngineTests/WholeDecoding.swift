import Testing

@testable import HTTPEngine

extension ContentDecoder {
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
