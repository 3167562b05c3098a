/// Bounds on what a peer can make us hold or count. Each is enforced while the data is still incomplete.
///
/// Stored narrow, because every connection's parser carries a copy.
public struct ParserLimits: Sendable, Hashable {
    /// Start line and fields together, in octets. nginx takes 32 KiB, node 16, curl 300: 64 KiB holds every head seen
    /// in the wild and keeps a thousand hostile connections within 64 MiB.
    public var headBytes: UInt32 = 64 * 1024
    /// Fields in a head, and fields in a trailer section. hyper stops at 100; pages with many cookies reach 150.
    public var fieldCount: UInt16 = 256
    /// One field line with its line end (each line of a folded one). Content-Security-Policy reaches 10 KiB.
    public var fieldLineBytes: UInt32 = 32 * 1024
    /// One field name. The longest registered one has 43 octets.
    public var fieldNameBytes: UInt16 = 1024
    /// A method; no registered one is longer than 17 octets.
    public var methodBytes: UInt16 = 1024
    /// A request target. RFC 9112 §3 asks for request lines of at least 8000 octets.
    public var targetBytes: UInt32 = 16 * 1024
    /// The trailer section up to its empty line; hyper takes as much.
    public var trailerBytes: UInt32 = 16 * 1024
    /// One chunk-size line: sixteen digits, leading zeros and extensions.
    public var chunkLineBytes: UInt16 = 1024
    /// Extensions on one chunk. None is needed; signatures in use stay below 120 octets.
    public var chunkExtensionBytes: UInt16 = 256
    /// Extensions in one message, so that one-octet chunks cannot carry a flood of them (CVE-2023-39326).
    public var totalChunkExtensionBytes: UInt32 = 16 * 1024
    /// 1xx responses before one final response (CVE-2021-3737 was an endless row of them).
    public var informationalCount: UInt16 = 32
    /// Octets of all 1xx responses before one final response together.
    public var informationalBytes: UInt32 = 128 * 1024
    /// Body octets, after chunked was undone; `UInt64.max` for no limit, since a body is never kept here.
    public var bodyBytes: UInt64 = .max

    /// The values that the properties begin with.
    public init() {}

    /// The names of the limits, for errors.
    public enum Name: String, Sendable, Hashable {
        /// Limits on heads.
        case headBytes, fieldCount, fieldLineBytes, fieldNameBytes, methodBytes, targetBytes, trailerBytes
        /// Limits on chunked bodies.
        case chunkLineBytes, chunkExtensionBytes, totalChunkExtensionBytes
        /// Limits on 1xx responses, and on bodies.
        case informationalCount, informationalBytes, bodyBytes

        /// RFC 9110 §15.5.14 and .15, RFC 6585 §5.
        var responseStatus: Int {
            switch self {
            case .headBytes, .fieldCount, .fieldLineBytes, .fieldNameBytes, .trailerBytes: 431
            case .methodBytes: 501
            case .targetBytes: 414
            case .bodyBytes: 413
            default: 400
            }
        }
    }
}

/// Things old servers do that the grammar forbids, each to be allowed by name. A parser's default allows none; an
/// engine's allows folds.
///
/// None of them reaches the lines of chunks and trailers: RFC 9112 §2.2 lets a recipient take a bare LF in the lines of
/// a head, not in chunk lines, and a fold there has no reading all parties share.
public struct Leniency: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A line of the head may end in LF alone (RFC 9112 §2.2).
    public static let bareLF = Leniency(rawValue: 1)
    /// A field line may go on in a line that starts with a blank; the fold, with the blanks around it, reads as one
    /// space (RFC 9112 §5.2). Never in Content-Length or Transfer-Encoding.
    public static let obsoleteLineFolding = Leniency(rawValue: 2)
    /// Blanks may stand between a field name and its colon and are dropped (RFC 9112 §5.1).
    public static let spaceBeforeColon = Leniency(rawValue: 4)
    /// Lines before the status line that do not start like one are skipped; they count as part of the head. A status
    /// line may name its protocol `http`, in letters of any case, or `ICY`, which is read as HTTP/1.0.
    public static let junkBeforeStatusLine = Leniency(rawValue: 8)
    /// A response may have `Transfer-Encoding: chunked` beside Content-Length, and in HTTP/1.0. It is read by its
    /// chunks, the length is removed from its fields, and the connection ends with it (RFC 9112 §6.1, §6.3).
    public static let chunksBesideLength = Leniency(rawValue: 16)
}
