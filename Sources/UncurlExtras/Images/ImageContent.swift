public import Uncurl

/// An image, as far as it has been read.
public struct ImageContent: Sendable, Equatable {
    /// The format, by the octets.
    public let format: ImageFormat
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// Nil where only the header was read: no decoder for this format, or an image beyond the serializer's limit.
    public let pixels: ImagePixels?
    /// The content as it came.
    public let data: Data
    /// Pixels a point.
    public let scale: Double

    /// An image of a header that was read, and of pixels where they were decoded.
    public init(header: ImageHeader, pixels: ImagePixels? = nil, data: Data, scale: Double = 1) {
        format = header.format
        width = header.width
        height = header.height
        self.pixels = pixels
        self.data = data
        self.scale = scale
    }
}

/// Pixels row by row from the top left corner, four octets each: red, green, blue, alpha (not premultiplied).
public struct ImagePixels: Sendable, Equatable {
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// `width * height * 4` octets.
    public let octets: [UInt8]

    /// Nil where the octets are not as many as the pixels take.
    public init?(width: Int, height: Int, octets: [UInt8]) {
        let (count, isTooMuch) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !isTooMuch, octets.count.isMultiple(of: 4), octets.count / 4 == count else {
            return nil
        }
        self.width = width
        self.height = height
        self.octets = octets
    }

    /// The four octets of a pixel; nil beyond the edges.
    public subscript(x: Int, y: Int) -> [UInt8]? {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return nil }
        let start = (y * width + x) * 4
        return Array(octets[start..<start + 4])
    }
}
