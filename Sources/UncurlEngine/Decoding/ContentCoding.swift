internal import UncurlHTTP1

/// The content codings that this engine decodes (RFC 9110 §8.4.1).
enum ContentCoding: Equatable {
    /// RFC 1952; `x-gzip` is the same (§8.4.1.3).
    case gzip
    /// RFC 1950, and the raw form of RFC 1951 that some servers send under its name (§8.4.1.2).
    case deflate
    #if Brotli
    /// RFC 7932.
    case brotli
    #endif
    #if Zstd
    /// RFC 8878.
    case zstd
    #endif

    /// What `Accept-Encoding` says for a request that wants decoding.
    static let accepted: String = {
        var names = ["gzip", "deflate"]
        #if Brotli
        names.append("br")
        #endif
        #if Zstd
        names.append("zstd")
        #endif
        return names.joined(separator: ", ")
    }()

    /// Names are case-insensitive (§8.4.1).
    init?(_ name: some StringProtocol) {
        switch name.ascii?.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        #if Brotli
        case "br": self = .brotli
        #endif
        #if Zstd
        case "zstd": self = .zstd
        #endif
        default: return nil
        }
    }

    /// How many codings may be applied one after the other. Real servers apply one; curl allows 5 since CVE-2022-32206.
    /// Each further one multiplies the size that a small body can expand to.
    static let maximumChain = 3

    /// Returns a Content-Encoding field's codings in the order in which they were applied. Empty if there is nothing to
    /// decode. Nil if one of them is unknown: then the content is delivered undecoded, with the field.
    static func parse(_ field: String) throws(ContentDecodingError) -> [ContentCoding]? {
        var codings: [ContentCoding] = []
        for element in field.utf8.split(separator: UInt8(ascii: ",")) {
            let token = Substring(element.withoutBlanks)
            if token.isEmpty { continue }
            if token.ascii?.lowercased() == "identity" { continue }
            guard let coding = ContentCoding(token) else { return nil }
            codings.append(coding)
        }
        guard codings.count <= maximumChain else { throw .tooManyCodings(codings.count) }
        return codings
    }

    func makeStream() throws(ContentDecodingError) -> any CodedStream {
        switch self {
        case .gzip, .deflate: try Inflater(self)
        #if Brotli
        case .brotli: try BrotliStream()
        #endif
        #if Zstd
        case .zstd: try ZstdStream()
        #endif
        }
    }
}

/// The reason why content cannot be decoded.
public enum ContentDecodingError: Error, Hashable, Sendable {
    /// There are more codings than are decoded (3).
    case tooManyCodings(Int)
    /// The library's verdict: broken header, data, checksum or length.
    case corrupt(String)
    /// The content ended before the coded stream did.
    case truncated
    /// Bytes other than zeros follow the end of the coded stream.
    case trailingBytes
    /// The zlib stream needs a preset dictionary, which HTTP has no way to name.
    case presetDictionary
    /// The decoded content exceeds the request's limit, in bytes.
    case tooLarge(limit: UInt64)
    /// The decoded content exceeds that many times its coded size.
    case tooExpansive(ratio: Int)
    /// There is no memory for the window.
    case outOfMemory
}

extension ContentDecodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooManyCodings(let count):
            "\(count) content codings on top of each other (at most 3 are undone; a request with its own Accept-Encoding gets the coded content)"
        case .corrupt(let reason): reason
        case .truncated: "the coded stream is cut short"
        case .trailingBytes: "bytes after the end of the coded stream"
        case .presetDictionary: "the stream asks for a preset dictionary"
        case .tooLarge(let limit): "more than \(limit) bytes once decoded; DecodingLimits.bytes sets the limit"
        case .tooExpansive(let ratio):
            "more than \(ratio) times its coded size once decoded; DecodingLimits.ratio sets the limit, and a request with its own Accept-Encoding gets the coded content"
        case .outOfMemory: "out of memory"
        }
    }
}

/// The limits on the expansion of a body.
public struct DecodingLimits: Hashable, Sendable {
    /// The most decoded bytes in all; nil for no limit. Delivery is streamed and bounded either way.
    public var bytes: UInt64?
    /// The largest ratio of decoded to coded bytes; nil for no limit. Zeros reach 1,030 in honest gzip. What a chain of
    /// codings decodes before the last of them has a limit of its own, 1,100.
    public var ratio: Int?

    /// Limits from their values; nil for none.
    public init(bytes: UInt64? = nil, ratio: Int? = nil) {
        self.bytes = bytes
        self.ratio = ratio
    }

    /// The ratio is not checked before that many decoded bytes: a page of blanks is no bomb.
    static let ratioGrace: UInt64 = 1 << 20
    /// The largest ratio of what a chain of codings decodes on the way to what has come, whatever ``ratio`` says: more
    /// than one coding of zeros reaches. Two on top of each other can reach a million, as no content in use does.
    static let linkRatio = 1_100
}
