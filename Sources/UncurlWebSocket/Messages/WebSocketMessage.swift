/// A whole message of an application, joined from its fragments and decompressed.
public enum WebSocketMessage: Hashable, Sendable {
    /// A text message, in valid UTF-8.
    case text(String)
    /// A binary message.
    case binary([UInt8])
}
