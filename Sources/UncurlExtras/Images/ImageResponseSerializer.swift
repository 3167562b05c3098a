internal import Uncurl

/// An image: its format and size by its octets, and its pixels where there is a decoder; PNG's is here.
public struct ImageResponseSerializer: ResponseSerializer {
    /// Which answers are read: status 200 to 299 and ``contentTypes``, unless set.
    public var validation: ResponseValidation
    /// Asked in order, before the one for PNG.
    public var decoders: [any ImageDecoder]
    /// Pixels a point of the images.
    public var scale: Double
    /// Whether pixels are made at once, where the answer is serialized and not where the image is shown.
    public var decodesPixels: Bool
    /// Larger images are images without pixels; ``PNGDecoder/defaultMaximumPixels`` says why that number.
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

    /// - Throws: `SerializationFailure` with the reason `empty` for no content, or with the reason `image` and an
    ///   ``ImageFailure`` beneath.
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
