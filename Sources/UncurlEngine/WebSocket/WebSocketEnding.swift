public import UncurlWebSocket

/// How a WebSocket ended.
public enum WebSocketEnding: Hashable, Sendable {
    /// The closing handshake was done, whichever end began it; the reason is the peer's.
    case closed(CloseReason)
    /// It failed.
    case failed(WebSocketFailure)
}

/// The reason why there was no closing handshake.
public enum WebSocketFailure: Error, Hashable, Sendable {
    /// The peer broke a rule, and was told which.
    case violation(WebSocketError)
    /// The connection was lost; nil: the peer ended it without a close frame.
    case lost(EngineError?)
    /// The peer did not answer the Close in time.
    case closeTimedOut
}

extension WebSocketFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .violation(let error): "the peer sent \(error)"
        case .lost(nil): "the peer ended the connection without a close frame"
        case .lost(let error?): "\(error)"
        case .closeTimedOut: "the peer did not answer the close frame"
        }
    }
}
