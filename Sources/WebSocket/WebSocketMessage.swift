/// What an application says: a whole message, put together and decompressed.
public enum WebSocketMessage: Hashable, Sendable {
    case text(String)
    case binary([UInt8])
}
