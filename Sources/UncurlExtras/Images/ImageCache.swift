public import Uncurl

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
