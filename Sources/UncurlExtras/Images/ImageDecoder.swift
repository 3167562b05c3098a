public import Uncurl

/// Makes pixels of an image's octets. What is not known here (JPEG, WebP …) can be added by a conforming type.
public protocol ImageDecoder: Sendable {
    /// The one format that this decoder reads.
    var format: ImageFormat { get }

    /// - Parameter header: what the header says; its dimensions are within the serializer's limit.
    func pixels(of data: Data, header: ImageHeader) throws -> ImagePixels
}
