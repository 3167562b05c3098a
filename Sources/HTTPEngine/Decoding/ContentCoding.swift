/// The content codings this engine undoes (RFC 9110 §8.4.1).
enum ContentCoding: Equatable {
    /// RFC 1952; `x-gzip` is the same (§8.4.1.3).
    case gzip
    /// RFC 1950, and the raw RFC 1951 form that some servers send in its name (§8.4.1.2).
    case deflate

    /// What `Accept-Encoding` says for a request that wants decoding.
    static let accepted = "gzip, deflate"

    /// Names are case-insensitive (§8.4.1).
    init?(_ name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }

    /// How many codings may lie on top of each other. Real servers apply one; curl allows 5 since
    /// CVE-2022-32206, and each more multiplies what a small body can blow up to.
    static let maximumChain = 3

    /// A Content-Encoding field's codings in the order they were applied. Empty: nothing to undo. Nil: one of them
    /// is unknown to us, and the content is delivered as it is, with the field that says so.
    static func parse(_ field: String) throws(ContentDecodingError) -> [ContentCoding]? {
        var codings: [ContentCoding] = []
        for element in field.utf8.split(separator: UInt8(ascii: ",")) {
            let name = Substring(element).utf8.drop(while: isBlank)
            guard let last = name.lastIndex(where: { !isBlank($0) }) else { continue }
            let token = Substring(name[...last])
            if token.lowercased() == "identity" { continue }
            guard let coding = ContentCoding(token) else { return nil }
            codings.append(coding)
        }
        guard codings.count <= maximumChain else { throw .tooManyCodings(codings.count) }
        return codings
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// Why content does not decode.
public enum ContentDecodingError: Error, Hashable, Sendable {
    /// More codings on top of each other than we undo (3).
    case tooManyCodings(Int)
    /// zlib's verdict: broken header, data, checksum or length.
    case corrupt(String)
    /// The content ended before the coded stream did.
    case truncated
    /// Bytes other than zeros after the end of the coded stream.
    case trailingBytes
    /// zlib with a preset dictionary, which HTTP has no way to name.
    case presetDictionary
    /// The decoded content passed the request's limit, in bytes.
    case tooLarge(limit: UInt64)
    /// The decoded content passed so many times its coded size.
    case tooExpansive(ratio: Int)
    /// zlib found no memory for its window.
    case outOfMemory
}

extension ContentDecodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooManyCodings(let count): "\(count) content codings on top of each other (at most 3 are undone)"
        case .corrupt(let reason): reason
        case .truncated: "the coded stream is cut short"
        case .trailingBytes: "bytes after the end of the coded stream"
        case .presetDictionary: "the stream asks for a preset dictionary"
        case .tooLarge(let limit): "more than \(limit) bytes once decoded"
        case .tooExpansive(let ratio): "more than \(ratio) times its coded size once decoded"
        case .outOfMemory: "out of memory"
        }
    }
}

/// How far decoding may blow a body up.
public struct DecodingLimits: Hashable, Sendable {
    /// Decoded bytes in all; nil: no limit. Delivery is streamed and bounded either way.
    public var bytes: UInt64?
    /// Decoded over coded bytes; nil: no limit. Zeros reach 1,030 in honest gzip.
    public var ratio: Int?

    /// Limits from their values; nil for none.
    public init(bytes: UInt64? = nil, ratio: Int? = nil) {
        self.bytes = bytes
        self.ratio = ratio
    }

    /// A ratio says nothing before so many decoded bytes: a page of blanks is no bomb.
    static let ratioGrace: UInt64 = 1 << 20
}
