internal import Uncurl

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
