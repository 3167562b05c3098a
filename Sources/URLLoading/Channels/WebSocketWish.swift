internal import WebSocket

/// What a task is asked for.
enum WebSocketWish: Sendable {
    case send(WebSocketMessage, TaskReply<Void>)
    /// Sent in vain: waits to hear of the end.
    case unsent(TaskReply<Void>)
    case ping(UInt64, TaskReply<Void>)
    case receive(UInt64, TaskReply<WebSocketMessage>)

    /// By which a waiter takes it back.
    var number: UInt64? {
        switch self {
        case .send, .unsent: nil
        case .ping(let number, _), .receive(let number, _): number
        }
    }
}
