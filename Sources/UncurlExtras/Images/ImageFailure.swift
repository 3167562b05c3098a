internal import Foundation

/// Why octets cannot be read as an image.
public enum ImageFailure: Error, Sendable, Hashable {
    /// The first octets belong to no known format.
    case unknownFormat
    /// The octets end before the image does.
    case truncated(ImageFormat)
    /// The content breaks a rule of its format; the text says which.
    case corrupt(ImageFormat, String)
    /// The image has more pixels than the limit allows. It was not decoded.
    case tooManyPixels(width: Int, height: Int, limit: Int)
    /// zlib found no memory.
    case outOfMemory
}

extension ImageFailure: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .unknownFormat: "the octets are no image of a known format"
        case .truncated(let format): "the \(format) image ends too early"
        case .corrupt(let format, let what): "the \(format) image is corrupt: \(what)"
        case .tooManyPixels(let width, let height, let limit):
            "an image of \(width) by \(height) pixels is more than \(limit) pixels; maximumPixels of the decoder sets the limit"
        case .outOfMemory: "there is not enough memory for the image"
        }
    }

    public var errorDescription: String? { description }
}
