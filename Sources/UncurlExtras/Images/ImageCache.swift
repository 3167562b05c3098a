public import Uncurl

/// Images in memory, by where they come from.
public typealias ImageCache = AutoPurgingCache<ImageCacheKey, ImageContent>

/// An image's URL, and what was made of it where that is not the image itself.
public struct ImageCacheKey: Hashable, Sendable {
    /// The absolute URL of the image.
    public let url: String
    /// Names what was made of the image, such as a filter; nil for the image itself.
    public let identifier: String?

    /// A key for an image, or for what was made of it.
    public init(_ url: URL, identifier: String? = nil) {
        self.url = url.absoluteString
        self.identifier = identifier
    }
}

extension AutoPurgingCache where Value == ImageContent {
    /// Each image costs four octets a pixel, which is what it takes to be shown, whether it has been decoded or not.
    public static func images(
        capacity: Int = defaultCapacity,
        preferredAfterPurge: Int = defaultPreferredAfterPurge,
        admits: @escaping @Sendable (Key, ImageContent) -> Bool = { _, _ in true }
    ) -> AutoPurgingCache {
        AutoPurgingCache(capacity: capacity, preferredAfterPurge: preferredAfterPurge, admits: admits) { image in
            // A header may claim any size.
            let (pixels, overflows) = image.width.multipliedReportingOverflow(by: image.height)
            let (octets, overflowsToo) = pixels.multipliedReportingOverflow(by: 4)
            return overflows || overflowsToo ? .max : octets
        }
    }
}
