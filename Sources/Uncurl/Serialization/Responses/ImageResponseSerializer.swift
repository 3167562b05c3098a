/// An image: its format, its size, and its pixels where there is a decoder.
public struct ImageResponseSerializer: ResponseSerializer {
    public var validation: ResponseValidation
    public var decoders: [any ImageDecoder]
    /// Pixels a point of the images.
    public var scale: Double
    /// Whether pixels are made at once, off the caller's thread.
    public var decodesPixels: Bool
    public var maximumPixels: Int

    public static let contentTypes: AcceptableTypes = ["image/*"]

    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: contentTypes),
        decoders: [any ImageDecoder] = [],
        scale: Double = 1,
        decodesPixels: Bool = true,
        maximumPixels: Int = 1 << 24
    ) {
        self.validation = validation
        self.decoders = decoders
        self.scale = scale
        self.decodesPixels = decodesPixels
        self.maximumPixels = maximumPixels
    }

    public func serialize(_ answer: ReceivedResponse) throws -> ImageContent {
        throw SerializationFailure(.image(.unknownFormat), answer: answer)
    }
}

extension ResponseSerializer where Self == ImageResponseSerializer {
    public static var image: ImageResponseSerializer { ImageResponseSerializer() }
}
