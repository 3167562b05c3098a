internal import UncurlTLS

/// The checksum at the head of a file of the library's own:
///
///     magic (8) · SHA-256 of all that follows (32) · content
///
/// It covers everything that can go wrong with a file after it was renamed into its place: a power failure, a bad disk,
/// another program. A file that does not match is not read.
struct StoreSeal: Sendable {
    static let length = magicLength + 32
    private static let magicLength = 8

    private let magic: [UInt8]

    /// - Parameters:
    ///   - kind: the kind of file.
    ///   - format: the number of the content's format; files of other formats do not match.
    init(kind: UInt8, format: UInt8) {
        magic = Array("UNCURL".utf8) + [kind, format]
    }

    /// Nil if the system's OpenSSL has no SHA-256.
    func closed(_ content: [UInt8]) -> [UInt8]? {
        MessageDigest.sha256.hash(content.span).map { magic + $0 + content }
    }

    /// Returns the content; nil if the file is damaged, cut short, or of another kind.
    func content(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let content = uncheckedContent(of: bytes),
            MessageDigest.sha256.hash(bytes.span.extracting(droppingFirst: Self.length))
                == Array(bytes[Self.magicLength..<Self.length])
        else { return nil }
        return content
    }

    /// Returns what follows the checksum, unchecked, for a reader that has only the file's first octets; nil for a file
    /// of another kind.
    func uncheckedContent(of start: [UInt8]) -> ArraySlice<UInt8>? {
        guard start.count >= Self.length, start.starts(with: magic) else { return nil }
        return start[Self.length...]
    }
}
