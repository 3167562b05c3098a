/// Why octets are no image that can be read here.
public enum ImageFailure: Error, Sendable, Hashable {
    /// None of the formats whose headers are known.
    case unknownFormat
    case truncated
    case corrupt(ImageFormat, String)
    case tooManyPixels(width: Int, height: Int, limit: Int)
}
