internal import WebSocket

/// Who waits for something of a WebSocket: answered once.
enum WebSocketReply<Value: Sendable>: Sendable {
    typealias Call = @Sendable (Result<Value, any Error>) -> Void

    /// The user's, called on the session's delegate queue.
    case handler(Call)
    /// A function's, which goes on from whatever thread it is told on.
    case awaited(Call)

    /// Where it may be called at once.
    func callAsFunction(_ result: Result<Value, any Error>) {
        switch self {
        case .handler(let call), .awaited(let call): call(result)
        }
    }
}

/// What a task is asked for.
enum WebSocketWish: Sendable {
    case send(WebSocketMessage, WebSocketReply<Void>)
    /// Sent in vain: waits to hear of the end.
    case unsent(WebSocketReply<Void>)
    case ping(UInt64, WebSocketReply<Void>)
    case receive(UInt64, WebSocketReply<WebSocketMessage>)

    /// By which a waiter takes it back.
    var number: UInt64? {
        switch self {
        case .send, .unsent: nil
        case .ping(let number, _), .receive(let number, _): number
        }
    }
}
