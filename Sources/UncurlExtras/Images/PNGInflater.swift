internal import CUncurlZlib
internal import Foundation

/// Inflates the zlib stream of a PNG's pixels row by row. Only one row and one window are in memory.
@safe final class PNGInflater {
    /// zlib keeps the address of its `z_stream`, so the stream may never move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let data: Data
    private var ranges: ArraySlice<Range<Int>>
    /// Input of up to 64 KiB. That is enough for some rows and small beside the pixels.
    private var window: [UInt8] = []
    private var used = 0
    private var isAtEnd = false

    private static let windowSize = 65_536

    init(_ data: Data, _ ranges: [Range<Int>]) throws(ImageFailure) {
        self.data = data
        self.ranges = ranges[...]
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe uncurl_inflateInit2(stream, 15) == Z_OK else {
            unsafe stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Fills the first `count` octets.
    func fill(_ row: inout [UInt8], count: Int) throws(ImageFailure) {
        var made = 0
        while made < count {
            guard !isAtEnd else { throw .truncated(.png) }
            try refill()
            made += try step(&row, from: made, to: count)
        }
    }

    /// Verifies the checksum of the stream, and that no more pixels follow.
    func finish() throws(ImageFailure) {
        var spare: [UInt8] = [0]
        while !isAtEnd {
            try refill()
            guard try step(&spare, from: 0, to: 1) == 0 else {
                throw .corrupt(.png, "more pixels than its header says")
            }
        }
    }

    private func refill() throws(ImageFailure) {
        while used == window.count {
            guard let range = ranges.first else { throw .truncated(.png) }
            let part = range.prefix(Self.windowSize)
            window = Array(data[data.startIndex + part.lowerBound..<data.startIndex + part.upperBound])
            used = 0
            if part.count == range.count {
                ranges = ranges.dropFirst()
            } else {
                ranges[ranges.startIndex] = part.upperBound..<range.upperBound
            }
        }
    }

    /// - Returns: the number of octets written.
    private func step(_ row: inout [UInt8], from start: Int, to end: Int) throws(ImageFailure) -> Int {
        let (code, consumed, produced) = unsafe window.withUnsafeMutableBufferPointer { input in
            unsafe row.withUnsafeMutableBufferPointer { output in
                unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + used }
                unsafe stream.pointee.avail_in = uInt(clamping: input.count - used)
                unsafe stream.pointee.next_out = output.baseAddress.map { unsafe $0 + start }
                unsafe stream.pointee.avail_out = uInt(clamping: end - start)
                let before = unsafe (stream.pointee.avail_in, stream.pointee.avail_out)
                let code = unsafe CUncurlZlib.inflate(stream, Z_NO_FLUSH)
                return unsafe (
                    code, Int(before.0 - stream.pointee.avail_in), Int(before.1 - stream.pointee.avail_out)
                )
            }
        }
        used += consumed
        switch code {
        case Z_OK: break
        // No progress despite input and room: the stream would never end.
        case Z_BUF_ERROR: guard consumed > 0 || used == window.count else { throw .corrupt(.png, "endless pixel data") }
        case Z_STREAM_END: isAtEnd = true
        case Z_MEM_ERROR: throw .outOfMemory
        default:
            throw .corrupt(.png, unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "zlib error \(code)")
        }
        return produced
    }
}
