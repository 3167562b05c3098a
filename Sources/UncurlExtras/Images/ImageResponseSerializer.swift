public import Uncurl

/// Reads an image: its format and dimensions from its header, and its pixels where there is a decoder. A decoder for
/// PNG is built in.
public struct ImageResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299 and one of the ``contentTypes``.
    public var validation: ResponseValidation
    /// Decoders that are tried in order, before the one for PNG.
    public var decoders: [any ImageDecoder]
    /// The number of pixels per point of the images.
    public var scale: Double
    /// Whether pixels are decoded when the answer is serialized, and not when the image is shown.
    public var decodesPixels: Bool
    /// The most pixels that are decoded. A larger image has no pixels. ``PNGDecoder/defaultMaximumPixels`` explains the
    /// default.
    public var maximumPixels: Int

    /// `image/*`.
    public static let contentTypes: AcceptableTypes = ["image/*"]

    /// Makes a serializer. Each argument is described at the property of its name.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: contentTypes),
        decoders: [any ImageDecoder] = [],
        scale: Double = 1,
        decodesPixels: Bool = true,
        maximumPixels: Int = PNGDecoder.defaultMaximumPixels
    ) {
        self.validation = validation
        self.decoders = decoders
        self.scale = scale
        self.decodesPixels = decodesPixels
        self.maximumPixels = maximumPixels
    }

    /// - Throws: `SerializationFailure` with the reason `empty` for empty content, or with the reason `image` and an
    ///   ``ImageFailure`` as the underlying error.
    public func serialize(_ answer: ReceivedResponse) throws -> ImageContent {
        let content = try answer.content()
        guard !content.isEmpty else { throw SerializationFailure(.empty, answer: answer) }
        do {
            let header = try ImageHeader(reading: content)
            let pixels = try decoder(of: header)?.pixels(of: content, header: header)
            return ImageContent(header: header, pixels: pixels, data: content, scale: scale)
        } catch let failure as ImageFailure {
            throw SerializationFailure(.image, answer: answer, underlying: failure)
        }
    }

    private func decoder(of header: ImageHeader) -> (any ImageDecoder)? {
        let (count, isTooMuch) = header.width.multipliedReportingOverflow(by: header.height)
        guard decodesPixels, !isTooMuch, count <= maximumPixels else { return nil }
        if let decoder = decoders.first(where: { $0.format == header.format }) { return decoder }
        return header.format == .png ? PNGDecoder(maximumPixels: maximumPixels) : nil
    }
}

extension ResponseSerializer where Self == ImageResponseSerializer {
    /// An image: ``ImageResponseSerializer`` with its defaults.
    public static var image: ImageResponseSerializer { ImageResponseSerializer() }
}

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

/// Decodes the pixels of an image. A conforming type adds a format that UncurlExtras does not decode, such as JPEG or
/// WebP.
public protocol ImageDecoder: Sendable {
    /// The one format that this decoder reads.
    var format: ImageFormat { get }

    /// Decodes the pixels. May be called on any thread, for several images at once.
    ///
    /// - Parameters:
    ///   - data: the image as the server sent it.
    ///   - header: the image's header. The dimensions are within the serializer's limit.
    func pixels(of data: Data, header: ImageHeader) throws -> ImagePixels
}
