public import URLLoading

/// What an image is stored as.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case png, jpeg, gif, tiff, ico, bmp, webp
}

/// An image as far as it has been read.
public struct ImageContent: Sendable, Hashable {
    public let format: ImageFormat
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// Nil where only the header was read: no decoder for this format, or an image beyond its limits.
    public let pixels: ImagePixels?
    /// As it came.
    public let data: Data
    /// Pixels a point.
    public let scale: Double

    public init(
        format: ImageFormat,
        width: Int,
        height: Int,
        pixels: ImagePixels? = nil,
        data: Data,
        scale: Double = 1
    ) {
        self.format = format
        self.width = width
        self.height = height
        self.pixels = pixels
        self.data = data
        self.scale = scale
    }
}

/// Pixels row by row from the top left corner, four octets each: red, green, blue, alpha (not premultiplied).
public struct ImagePixels: Sendable, Hashable {
    public let width: Int
    public let height: Int
    /// `width * height * 4` octets.
    public let octets: [UInt8]
}
