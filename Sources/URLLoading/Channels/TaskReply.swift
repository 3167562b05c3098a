/// A caller that waits for part of a task's work, such as a message or some bytes. It is answered once.
enum TaskReply<Value: Sendable>: Sendable {
    typealias Call = @Sendable (Result<Value, any Error>) -> Void

    /// The program's handler, called on the session's delegate queue.
    case handler(Call)
    /// A waiting function, which can be resumed on any thread.
    case awaited(Call)

    /// Answers the caller at once, on this thread.
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
