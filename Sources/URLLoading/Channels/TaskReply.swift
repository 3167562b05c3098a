/// A caller that waits for something a task is asked for in passing, a message or some bytes: answered once.
enum TaskReply<Value: Sendable>: Sendable {
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

    var isAwaited: Bool {
        switch self {
        case .awaited: true
        case .handler: false
        }
    }
}
