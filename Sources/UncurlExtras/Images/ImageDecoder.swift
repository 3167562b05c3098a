public import Uncurl

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
