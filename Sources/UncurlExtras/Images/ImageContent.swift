public import Uncurl

/// An image: its header, and its pixels where they were decoded.
public struct ImageContent: Sendable, Equatable {
    /// The format, detected from the octets.
    public let format: ImageFormat
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// The pixels; nil where only the header was read, because there is no decoder for the format or the image exceeds
    /// the serializer's limit.
    public let pixels: ImagePixels?
    /// The content that the server sent.
    public let data: Data
    /// The number of pixels per point.
    public let scale: Double

    /// An image with a header, and with pixels where they were decoded.
    public init(header: ImageHeader, pixels: ImagePixels? = nil, data: Data, scale: Double = 1) {
        format = header.format
        width = header.width
        height = header.height
        self.pixels = pixels
        self.data = data
        self.scale = scale
    }
}

/// Pixels in rows from the top left corner, each with four octets: red, green, blue, alpha (not premultiplied).
public struct ImagePixels: Sendable, Equatable {
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// `width * height * 4` octets.
    public let octets: [UInt8]

    /// Pixels of these octets; nil where their number is not `width * height * 4`.
    public init?(width: Int, height: Int, octets: [UInt8]) {
        let (count, isTooMuch) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !isTooMuch, octets.count.isMultiple(of: 4), octets.count / 4 == count else {
            return nil
        }
        self.width = width
        self.height = height
        self.octets = octets
    }

    /// The four octets of a pixel; nil outside the image.
    public subscript(x: Int, y: Int) -> [UInt8]? {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return nil }
        let start = (y * width + x) * 4
        return Array(octets[start..<start + 4])
    }
}

/// Images in memory, by their URLs.
public typealias ImageCache = AutoPurgingCache<ImageCacheKey, ImageContent>

/// The URL of an image, and the name of a variant that was made of it.
public struct ImageCacheKey: Hashable, Sendable {
    /// The absolute URL of the image.
    public let url: String
    /// The name of a variant, such as a filter; nil for the image itself.
    public let identifier: String?

    /// A key for an image or for a variant of it.
    public init(_ url: URL, identifier: String? = nil) {
        self.url = url.absoluteString
        self.identifier = identifier
    }
}

extension AutoPurgingCache where Value == ImageContent {
    /// A cache in which an image costs four octets for each pixel, whether or not it has been decoded, since showing it
    /// takes that much; and the content that the server sent, with 512 octets for the entry.
    public static func images(
        capacity: Int = defaultCapacity,
        preferredAfterPurge: Int = defaultPreferredAfterPurge,
        admits: @escaping @Sendable (Key, ImageContent) -> Bool = { _, _ in true }
    ) -> AutoPurgingCache {
        AutoPurgingCache(capacity: capacity, preferredAfterPurge: preferredAfterPurge, admits: admits) { image in
            // A header may declare any size.
            let (pixels, overflows) = image.width.multipliedReportingOverflow(by: image.height)
            let (octets, overflowsToo) = pixels.multipliedReportingOverflow(by: 4)
            let (cost, isTooMuch) = octets.addingReportingOverflow(image.data.count + 512)
            return overflows || overflowsToo || isTooMuch ? .max : cost
        }
    }
}
