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
