internal import UncurlEngine
internal import UncurlHTTP1

/// The limits on what a server may send before an answer's content and after it. Beyond one of them the task fails with
/// `URLError.cannotParseResponse`, whose underlying error names the limit. The values of
/// ``URLSessionConfiguration/responseLimits`` are those of curl; ``URLRequest/responseLimits`` is a request's own.
public struct ResponseLimits: Hashable, Sendable {
    /// The status line and the header fields together, and so the trailers, in bytes. The informational answers (1xx)
    /// before an answer may have twice as much together. curl's limit; browsers and servers take between 8 and 256 KiB.
    public var headLength = 300 << 10
    /// One header field with its name and its line end, in bytes. A name may have 65,535 at most.
    public var fieldLength = 100 << 10
    /// The number of header fields, and so that of trailers; at most 65,535.
    public var fieldCount = 5_000
    /// The number of informational answers (1xx) before an answer; at most 65,535. A server may send them without end.
    public var informationalCount = 32
    /// The extensions of all chunks of an answer together, in bytes (RFC 9112 §7.1.1). Nothing reads them, so that a
    /// server could send them without end.
    public var chunkExtensionLength = 16 << 10

    /// The number of redirects in a row that are followed. One more fails the task with
    /// `URLError.httpTooManyRedirects`.
    public var redirectCount = 20

    /// Makes limits with the properties' initial values.
    public init() {}

    /// The name of a limit, and where a program sets it, for errors.
    static func words(_ property: String) -> String {
        "ResponseLimits.\(property) allows; responseLimits of URLSessionConfiguration, URLRequest and RequestOptions sets it"
    }

    /// In the form of the parser, which counts in narrow numbers.
    var parserLimits: ParserLimits {
        var limits = ParserLimits()
        limits.headBytes = UInt32(clamping: headLength)
        limits.trailerBytes = limits.headBytes
        limits.fieldLineBytes = UInt32(clamping: fieldLength)
        limits.fieldNameBytes = UInt16(clamping: fieldLength)
        limits.fieldCount = UInt16(clamping: fieldCount)
        limits.informationalCount = UInt16(clamping: informationalCount)
        limits.informationalBytes = UInt32(clamping: 2 * min(max(headLength, 0), Int(UInt32.max)))
        limits.totalChunkExtensionBytes = UInt32(clamping: chunkExtensionLength)
        limits.chunkExtensionBytes = UInt16(clamping: chunkExtensionLength)
        limits.chunkLineBytes = UInt16(clamping: min(max(chunkExtensionLength, 0), Int(UInt16.max)) + 1024)
        return limits
    }
}

extension EngineError {
    /// The limit that an answer exceeded, in words, with the property that sets it; nil for other errors.
    var limitReason: String? {
        let name: ParserLimits.Name
        switch self {
        case .malformedResponse(let error), .proxy(.malformedResponse(let error)):
            guard case .limitExceeded(let limit) = error.kind else { return nil }
            name = limit
        case .tooManyHeldHeads(let limit):
            return "the heads of the session's answers that have come in part take more than \(limit) bytes together; "
                + "URLSessionConfiguration.maximumHeldHeadLength sets the limit"
        default: return nil
        }
        let (what, property) =
            switch name {
            case .headBytes: ("the head of the answer is longer", "headLength")
            case .trailerBytes: ("the trailers of the answer are longer", "headLength")
            case .informationalBytes: ("the informational answers are longer", "headLength")
            case .fieldLineBytes: ("a header field is longer", "fieldLength")
            case .fieldNameBytes: ("the name of a header field is longer", "fieldLength")
            case .fieldCount: ("the answer has more header fields", "fieldCount")
            case .informationalCount: ("there are more informational answers", "informationalCount")
            case .chunkLineBytes, .chunkExtensionBytes, .totalChunkExtensionBytes:
                ("the chunks of the answer have longer extensions", "chunkExtensionLength")
            // These are limits of servers, and on content, which has none here.
            case .methodBytes, .targetBytes, .bodyBytes: ("the answer is longer", name.rawValue)
            }
        return "\(what) than \(ResponseLimits.words(property))"
    }
}
