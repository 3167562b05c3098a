internal import UncurlWebSocket

/// A call that the program has made on a WebSocket task.
enum WebSocketWish: Sendable {
    case send(WebSocketMessage, TaskReply<Void>)
    /// A message that could not be sent: its caller waits for the end.
    case unsent(TaskReply<Void>)
    case ping(UInt64, TaskReply<Void>)
    case receive(UInt64, TaskReply<WebSocketMessage>)

    /// The number by which a caller can withdraw it.
    var number: UInt64? {
        switch self {
        case .send, .unsent: nil
        case .ping(let number, _), .receive(let number, _): number
        }
    }
}
