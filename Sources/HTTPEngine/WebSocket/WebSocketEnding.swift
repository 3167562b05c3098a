public import WebSocket

/// How a WebSocket ended.
public enum WebSocketEnding: Hashable, Sendable {
    /// By the closing handshake, whichever end began it: the peer's reason.
    case closed(CloseReason)
    /// It broke off.
    case failed(WebSocketFailure)
}

/// Why there was no closing handshake.
public enum WebSocketFailure: Error, Hashable, Sendable {
    /// The peer broke a rule, and has been told which.
    case violation(WebSocketError)
    /// The connection was lost; nil: the peer ended it without a word.
    case lost(EngineError?)
    /// The peer did not answer our Close in time.
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
