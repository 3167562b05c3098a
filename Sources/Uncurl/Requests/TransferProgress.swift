internal import URLLoading

/// How far a body has come, in bytes: a snapshot, which does not change while it is looked at. Never less than the one
/// before.
public struct TransferProgress: Hashable, Sendable {
    /// In bytes.
    public let completed: Int64
    /// Nil where it is not known.
    public let total: Int64?

    /// A snapshot, in bytes.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    init(_ completed: Int64, of expected: Int64) {
        self.init(completed: completed, total: expected >= 0 ? expected : nil)
    }

    init(sentBy task: URLSessionTask?) {
        self.init(task?.countOfBytesSent ?? 0, of: task?.countOfBytesExpectedToSend ?? -1)
    }

    /// Before the head of an answer its length is not known.
    init(receivedBy task: URLSessionTask?) {
        self.init(
            task?.countOfBytesReceived ?? 0,
            of: task?.response == nil ? -1 : task?.countOfBytesExpectedToReceive ?? -1
        )
    }

    /// From 0 to 1; nil where the total is not known.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }
}
