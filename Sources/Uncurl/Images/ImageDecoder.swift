public import URLLoading

/// Makes pixels of an image's octets. What is not known here (JPEG, WebP …) can be added by a conforming type.
public protocol ImageDecoder: Sendable {
    var format: ImageFormat { get }

    /// - Parameter header: what the header says; its dimensions are within the serializer's limits.
    func pixels(of data: Data, header: ImageHeader) throws -> ImagePixels
}

/// What stands in front of an image.
public struct ImageHeader: Sendable, Hashable {
    public let format: ImageFormat
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
}
