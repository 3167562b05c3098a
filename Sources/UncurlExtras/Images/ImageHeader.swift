internal import Foundation
public import Uncurl

/// The file format of an image.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    /// The formats whose headers are read.
    case png, jpeg, gif, tiff, ico, bmp, webp
}

/// The header of an image. It is read from the octets, whatever the media type or the file name.
public struct ImageHeader: Sendable, Hashable {
    /// The format, detected from the octets.
    public let format: ImageFormat
    /// In pixels, at least 1.
    public let width: Int
    /// In pixels, at least 1.
    public let height: Int

    init(_ format: ImageFormat, width: Int, height: Int) throws(ImageFailure) {
        guard width > 0, height > 0 else { throw .corrupt(format, "\(width) by \(height) pixels") }
        self.format = format
        self.width = width
        self.height = height
    }

    /// Reads only as many octets as necessary, which in a mapped file are usually one page.
    ///
    /// - Throws: ``ImageFailure``
    public init(reading data: Data) throws(ImageFailure) {
        guard let format = Self.format(of: data) else { throw .unknownFormat }
        let octets = ImageOctets(data, format)
        switch format {
        case .png: self = try Self.png(octets)
        case .jpeg: self = try Self.jpeg(octets)
        case .gif: self = try ImageHeader(.gif, width: octets.little(2, at: 6), height: octets.little(2, at: 8))
        case .tiff: self = try Self.tiff(octets)
        case .ico: self = try Self.ico(octets)
        case .bmp: self = try Self.bmp(octets)
        case .webp: self = try Self.webp(octets)
        }
    }

    private static func format(of data: Data) -> ImageFormat? {
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if data.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if data.starts(with: "GIF87a".utf8) || data.starts(with: "GIF89a".utf8) { return .gif }
        if data.starts(with: [0x49, 0x49, 0x2A, 0]) || data.starts(with: [0x4D, 0x4D, 0, 0x2A]) { return .tiff }
        if data.starts(with: [0, 0, 1, 0]) { return .ico }
        if data.starts(with: "RIFF".utf8), data.dropFirst(8).starts(with: "WEBP".utf8) { return .webp }
        return data.starts(with: "BM".utf8) ? .bmp : nil
    }

    /// PNG §11.2.2: the first chunk is IHDR, which begins with the width and the height.
    private static func png(_ octets: ImageOctets) throws(ImageFailure) -> ImageHeader {
        guard try octets.holds("IHDR", at: 12) else { throw .corrupt(.png, "its first chunk is not IHDR") }
        return try ImageHeader(.png, width: octets.big(4, at: 16), height: octets.big(4, at: 20))
    }

    /// ITU-T T.81 B.2: reads segments up to the first start of frame, which has the dimensions. Octets between
    /// segments, which cameras and editors leave there, are skipped.
    private static func jpeg(_ octets: ImageOctets) throws(ImageFailure) -> ImageHeader {
        var index = 2
        while true {
            guard try octets.octet(at: index) == 0xFF else {
                index += 1
                continue
            }
            let marker = try octets.octet(at: index + 1)
            switch marker {
            // Fill octets (B.1.1.2).
            case 0xFF: index += 1
            // No marker, and markers without a segment.
            case 0x00, 0x01, 0xD0...0xD8: index += 2
            case 0xC0...0xCF where marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
                return try ImageHeader(.jpeg, width: octets.big(2, at: index + 7), height: octets.big(2, at: index + 5))
            case 0xD9, 0xDA: throw .corrupt(.jpeg, "no frame")
            default:
                let length = try octets.big(2, at: index + 2)
                guard length >= 2 else { throw .corrupt(.jpeg, "a segment of \(length) octets") }
                index += 2 + length
            }
        }
    }

    /// TIFF 6.0 §2: entries 256 and 257 of the first directory.
    private static func tiff(_ octets: ImageOctets) throws(ImageFailure) -> ImageHeader {
        let isLittle = try octets.octet(at: 0) == 0x49
        func number(_ count: Int, at place: Int) throws(ImageFailure) -> Int {
            try isLittle ? octets.little(count, at: place) : octets.big(count, at: place)
        }
        let directory = try number(4, at: 4)
        var sizes: [Int: Int] = [:]
        for entry in 0..<(try number(2, at: directory)) {
            let place = directory + 2 + entry * 12
            let tag = try number(2, at: place)
            guard tag == 256 || tag == 257 else { continue }
            // SHORT or LONG, left-justified in the field.
            sizes[tag] = try number(number(2, at: place + 2) == 3 ? 2 : 4, at: place + 8)
        }
        guard let width = sizes[256], let height = sizes[257] else { throw .corrupt(.tiff, "no size") }
        return try ImageHeader(.tiff, width: width, height: height)
    }

    /// The largest image in the file. A size of 0 means 256.
    private static func ico(_ octets: ImageOctets) throws(ImageFailure) -> ImageHeader {
        var best = (width: 0, height: 0)
        for entry in 0..<(try octets.little(2, at: 4)) {
            let width = Int(try octets.octet(at: 6 + entry * 16))
            let height = Int(try octets.octet(at: 7 + entry * 16))
            let size = (width: width == 0 ? 256 : width, height: height == 0 ? 256 : height)
            if size.width * size.height > best.width * best.height { best = size }
        }
        return try ImageHeader(.ico, width: best.width, height: best.height)
    }

    /// A negative height means that the rows are stored from the top.
    private static func bmp(_ octets: ImageOctets) throws(ImageFailure) -> ImageHeader {
        if try octets.little(4, at: 14) == 12 {
            return try ImageHeader(.bmp, width: octets.little(2, at: 18), height: octets.little(2, at: 20))
        }
        let width = Int32(truncatingIfNeeded: try octets.little(4, at: 18))
        let height = Int32(truncatingIfNeeded: try octets.little(4, at: 22))
        return try ImageHeader(.bmp, width: Int(width), height: Int(height.magnitude))
    }

    /// RFC 9649 §2.5 to §2.7: the first chunk is one of three kinds.
    private static func webp(_ octets: ImageOctets) throws(ImageFailure) -> ImageHeader {
        if try octets.holds("VP8X", at: 12) {
            return try ImageHeader(.webp, width: octets.little(3, at: 24) + 1, height: octets.little(3, at: 27) + 1)
        }
        if try octets.holds("VP8L", at: 12) {
            guard try octets.octet(at: 20) == 0x2F else { throw .corrupt(.webp, "no lossless signature") }
            let bits = try octets.little(4, at: 21)
            return try ImageHeader(.webp, width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        }
        // RFC 6386 §9.1: a key frame's start code, then both dimensions, each with two bits of scaling above.
        guard try octets.holds("VP8 ", at: 12), try octets.big(3, at: 23) == 0x9D012A else {
            throw .corrupt(.webp, "no key frame")
        }
        let width = try octets.little(2, at: 26) & 0x3FFF
        return try ImageHeader(.webp, width: width, height: octets.little(2, at: 28) & 0x3FFF)
    }
}

/// Reads numbers from an image's octets. A position beyond their end is an error, whatever its size.
struct ImageOctets {
    private let data: Data
    private let format: ImageFormat

    init(_ data: Data, _ format: ImageFormat) {
        self.data = data
        self.format = format
    }

    var count: Int { data.count }

    func octet(at place: Int) throws(ImageFailure) -> UInt8 {
        guard place >= 0, place < data.count else { throw .truncated(format) }
        return data[data.startIndex + place]
    }

    func holds(_ word: StaticString, at place: Int) throws(ImageFailure) -> Bool {
        for (index, letter) in word.description.utf8.enumerated() {
            guard try octet(at: place + index) == letter else { return false }
        }
        return true
    }

    func big(_ count: Int, at place: Int) throws(ImageFailure) -> Int {
        var value = 0
        for index in 0..<count { value = value << 8 | Int(try octet(at: place + index)) }
        return value
    }

    func little(_ count: Int, at place: Int) throws(ImageFailure) -> Int {
        var value = 0
        for index in (0..<count).reversed() { value = value << 8 | Int(try octet(at: place + index)) }
        return value
    }
}

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
