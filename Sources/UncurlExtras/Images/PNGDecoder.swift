public import Uncurl

/// Decodes PNGs (ISO/IEC 15948) of every color type and depth, interlaced or not, and verifies the checksums of its
/// critical chunks and of the pixels. A file may end behind its pixels; ancillary chunks with a wrong checksum are left
/// out. Samples of sixteen bits are rounded to eight; gamma and color profiles are not applied.
public struct PNGDecoder: ImageDecoder {
    /// 16,777,216 pixels: an image of 4096 by 4096, which takes 64 MiB decoded. A file of 65 KiB can claim that much.
    public static let defaultMaximumPixels = 1 << 24

    /// The most pixels. Larger images are refused with ``ImageFailure/tooManyPixels(width:height:limit:)``.
    public var maximumPixels: Int

    /// The format is PNG.
    public var format: ImageFormat { .png }

    /// A decoder with a limit, in pixels.
    public init(maximumPixels: Int = PNGDecoder.defaultMaximumPixels) {
        self.maximumPixels = maximumPixels
    }

    /// - Throws: ``ImageFailure``
    public func pixels(of data: Data) throws(ImageFailure) -> ImagePixels {
        let chunks = try PNGChunks(data)
        let header = chunks.header
        let (count, isTooMuch) = header.width.multipliedReportingOverflow(by: header.height)
        // The second limit applies to any setting: the code below multiplies by at most eight octets per pixel.
        guard !isTooMuch, count <= min(maximumPixels, Int.max / 16) else {
            throw .tooManyPixels(width: header.width, height: header.height, limit: maximumPixels)
        }
        let passes = PNGPass.passes(of: header)
        try Self.checkRatio(chunks, passes)
        let inflater = try PNGInflater(data, chunks.content)
        var canvas = PNGCanvas(chunks)
        for pass in passes {
            var rows = PNGRows(pass: pass, header: header)
            for row in 0..<pass.height {
                try rows.next(from: inflater)
                try canvas.draw(rows.current, row: row, pass: pass)
            }
        }
        try inflater.finish()
        guard let pixels = ImagePixels(width: header.width, height: header.height, octets: canvas.octets) else {
            throw .outOfMemory
        }
        return pixels
    }

    /// - Throws: ``ImageFailure``
    public func pixels(of data: Data, header: ImageHeader) throws -> ImagePixels { try pixels(of: data) }

    /// Deflate expands one octet to at most 1032: 258 from a match whose code and distance take one bit each. This
    /// check refuses a header with impossible dimensions before any memory is allocated.
    private static func checkRatio(_ chunks: PNGChunks, _ passes: [PNGPass]) throws(ImageFailure) {
        let compressed = chunks.content.reduce(0) { $0 + $1.count }
        let raw = passes.reduce(0) { $0 + $1.height * (1 + $1.rowOctets(chunks.header)) }
        guard raw / 1032 <= compressed else { throw .truncated(.png) }
    }
}
