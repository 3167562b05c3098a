internal import CUncurlZlib
internal import Foundation

/// The chunks of a PNG (ISO/IEC 15948 §5.3). Their order and lengths are verified, and the checksums of critical
/// chunks. An ancillary chunk with a wrong checksum is left out, and a file may end behind its pixels (§13.2).
struct PNGChunks {
    typealias Header = (width: Int, height: Int, depth: Int, color: PNGColor, isInterlaced: Bool)

    let header: Header
    /// Three octets for each color; empty where there is no palette.
    private(set) var palette: [UInt8] = []
    private(set) var transparency: [UInt8] = []
    /// The ranges of the compressed pixels.
    private(set) var content: [Range<Int>] = []

    init(_ data: Data) throws(ImageFailure) {
        let octets = ImageOctets(data, .png)
        var place = 8
        let first = try Chunk(at: place, octets, data)
        guard first.type == "IHDR", first.content.count == 13 else {
            throw .corrupt(.png, "its first chunk is not IHDR")
        }
        header = try Self.header(octets)
        place = first.end
        while true {
            // What follows the pixels is of no use without its end, unless it is more of them.
            if !content.isEmpty, !Chunk.isWhole(at: place, octets, data) { break }
            let chunk = try Chunk(at: place, octets, data)
            if chunk.type == "IEND" { break }
            defer { place = chunk.end }
            if chunk.isDamaged { continue }
            try take(chunk, data, isBehindContent: content.last.map { $0.upperBound + 12 != chunk.content.lowerBound })
        }
        guard !content.isEmpty else { throw .corrupt(.png, "no pixels") }
        guard header.color != .indexed || !palette.isEmpty else { throw .corrupt(.png, "colors but no palette") }
    }

    private struct Chunk {
        let type: String
        let content: Range<Int>
        /// Whether the checksum of an ancillary chunk is wrong.
        let isDamaged: Bool

        /// Whether all octets of a chunk are there, or it is one of pixels.
        static func isWhole(at place: Int, _ octets: ImageOctets, _ data: Data) -> Bool {
            guard let isPixels = try? octets.holds("IDAT", at: place + 4), let length = try? octets.big(4, at: place)
            else { return false }
            return isPixels || length <= data.count - place - 12
        }

        var end: Int { content.upperBound + 4 }

        init(at place: Int, _ octets: ImageOctets, _ data: Data) throws(ImageFailure) {
            let length = try octets.big(4, at: place)
            guard length <= Int(Int32.max) else { throw .corrupt(.png, "a chunk of \(length) octets") }
            content = place + 8..<place + 8 + length
            let expected = try octets.big(4, at: content.upperBound)
            let start = data.startIndex
            let covered = data[start + place + 4..<start + content.upperBound]
            type = String(decoding: covered.prefix(4), as: UTF8.self)
            let sum = unsafe covered.withUnsafeBytes { buffer in
                // The length is at most 2^31 + 3, which fits zlib's type.
                unsafe crc32(0, buffer.bindMemory(to: UInt8.self).baseAddress, uInt(clamping: buffer.count))
            }
            isDamaged = Int(sum) != expected
            guard !isDamaged || isAncillary else { throw .corrupt(.png, "the checksum of chunk \(type) is wrong") }
        }

        /// A lower-case first letter means that a decoder may skip an unknown chunk (§5.4).
        var isAncillary: Bool { type.utf8.first.map { $0 & 0x20 != 0 } ?? false }
    }

    /// - Parameter isBehindContent: whether another chunk is between this one and the last chunk of pixels; nil before
    ///   the pixels.
    private mutating func take(
        _ chunk: Chunk,
        _ data: Data,
        isBehindContent: Bool?
    ) throws(ImageFailure) {
        let octets = data[data.startIndex + chunk.content.lowerBound..<data.startIndex + chunk.content.upperBound]
        switch chunk.type {
        case "IDAT":
            guard isBehindContent != true else { throw .corrupt(.png, "pixel chunks that are not consecutive") }
            content.append(chunk.content)
        case "PLTE":
            let limit = header.color == .indexed ? 3 << header.depth : 768
            guard isBehindContent == nil, palette.isEmpty, header.color.mayHavePalette, !octets.isEmpty,
                octets.count.isMultiple(of: 3), octets.count <= limit
            else { throw .corrupt(.png, "an invalid palette") }
            palette = Array(octets)
        case "tRNS":
            guard isBehindContent == nil, transparency.isEmpty, isTransparency(octets.count) else {
                throw .corrupt(.png, "an invalid transparency chunk")
            }
            transparency = Array(octets)
        default:
            guard chunk.isAncillary else { throw .corrupt(.png, "an unknown critical chunk \(chunk.type)") }
        }
    }

    /// Whether the length of a tRNS chunk is valid (§11.3.2.1).
    private func isTransparency(_ count: Int) -> Bool {
        switch header.color {
        case .gray: count == 2
        case .rgb: count == 6
        case .indexed: count > 0 && count <= palette.count / 3
        case .grayAlpha, .rgba: false
        }
    }

    /// Reads IHDR (§11.2.2).
    private static func header(_ octets: ImageOctets) throws(ImageFailure) -> Header {
        let size = try ImageHeader(.png, width: octets.big(4, at: 16), height: octets.big(4, at: 20))
        // Sizes are 31-bit numbers in four octets (§7.1).
        guard max(size.width, size.height) <= Int(Int32.max) else { throw .corrupt(.png, "a size beyond 31 bits") }
        let depth = Int(try octets.octet(at: 24))
        guard let color = PNGColor(rawValue: try octets.octet(at: 25)), color.depths.contains(depth) else {
            throw .corrupt(.png, "an unknown color type or depth")
        }
        guard try octets.octet(at: 26) == 0, try octets.octet(at: 27) == 0 else {
            throw .corrupt(.png, "an unknown compression or filter method")
        }
        let interlace = try octets.octet(at: 28)
        guard interlace <= 1 else { throw .corrupt(.png, "an unknown interlace method") }
        return (size.width, size.height, depth, color, interlace == 1)
    }
}

/// The parts of a pixel (§6.1).
enum PNGColor: UInt8 {
    case gray = 0
    case rgb = 2
    case indexed = 3
    case grayAlpha = 4
    case rgba = 6

    /// The raw value has a bit for a palette, one for color and one for alpha.
    var channels: Int { self == .indexed ? 1 : (mayHavePalette ? 3 : 1) + (rawValue & 4 == 0 ? 0 : 1) }

    /// Whether the pixels have color.
    var mayHavePalette: Bool { rawValue & 2 != 0 }

    var depths: Set<Int> {
        switch self {
        case .gray: [1, 2, 4, 8, 16]
        case .indexed: [1, 2, 4, 8]
        case .rgb, .grayAlpha, .rgba: [8, 16]
        }
    }
}

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
