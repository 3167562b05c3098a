/// What an application says: a whole message, put together and decompressed.
public enum WebSocketMessage: Hashable, Sendable {
    /// A text message, in valid UTF-8.
    case text(String)
    /// A binary message.
    case binary([UInt8])
}
