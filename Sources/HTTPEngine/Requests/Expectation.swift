/// When a request asks before it sends its content: `Expect: 100-continue` (RFC 9110 §10.1.1).
///
/// The head goes out alone. The content follows the server's 100, or the end of
/// ``EngineRequest/Options/continueWait``, since servers that know nothing of it stay silent; after a final status it
/// never does, and the connection is closed: the announced content did not come. A 417 says that the server cannot meet
/// the expectation, and the request is sent once more without it, on a fresh connection.
///
/// Worth a round trip only for content that costs more than one; not asked for at all unless told.
public enum Expectation: Hashable, Sendable {
    /// The content follows the head at once.
    case never
    /// With content of more than so many bytes, and of unknown length. curl's number is 1 MiB.
    case above(UInt64)
    /// With any content.
    case always

    /// - Parameter length: the content's, in bytes; nil where it is not known.
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
