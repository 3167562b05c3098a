public import Uncurl

/// Makes pixels of an image's octets. What is not known here (JPEG, WebP …) can be added by a conforming type.
public protocol ImageDecoder: Sendable {
    /// The one format that this decoder reads.
    var format: ImageFormat { get }

    /// Decodes the pixels. May be called on any thread, for several images at once.
    ///
    /// - Parameters:
    ///   - data: the image as it came.
    ///   - header: what its header says; the dimensions are within the serializer's limit.
    func pixels(of data: Data, header: ImageHeader) throws -> ImagePixels
}
