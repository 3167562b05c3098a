/// When a request asks the server before it sends its content: `Expect: 100-continue` (RFC 9110 §10.1.1).
///
/// The head is sent alone. The content follows the server's 100, or the end of ``EngineRequest/Options/continueWait``,
/// since servers that do not know it stay silent. After a final status it is not sent, and the connection is closed,
/// since the announced content did not come. A 417 says that the server cannot meet the expectation: the request is
/// sent once more without it, on a new connection.
///
/// It is worth a round trip only for content that costs more than one, and is never used by default.
public enum Expectation: Hashable, Sendable {
    /// The content follows the head at once.
    case never
    /// With content of more bytes than that, and of unknown length. curl uses 1 MiB.
    case above(UInt64)
    /// With any content.
    case always

    /// - Parameter length: the content's length in bytes; nil if it is not known.
    func applies(toContentOf length: UInt64?) -> Bool {
        guard let length else { return self != .never }
        switch self {
        case .never: return false
        case .above(let limit): return length > limit
        // RFC 9110 §10.1.1: never with a request that has no content.
        case .always: return length > 0
        }
    }
}
