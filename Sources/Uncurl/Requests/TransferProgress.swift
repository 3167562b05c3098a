internal import URLLoading

/// How far a body has come, in bytes: a snapshot, which does not change while it is looked at. Never less than the one before.
public struct TransferProgress: Hashable, Sendable {
    public let completed: Int64
    /// Nil where nobody knows.
    public let total: Int64?

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

    /// Before its head nobody knows how much an answer has.
    init(receivedBy task: URLSessionTask?) {
        self.init(
            task?.countOfBytesReceived ?? 0,
            of: task?.response == nil ? -1 : task?.countOfBytesExpectedToReceive ?? -1
        )
    }

    /// From 0 to 1; nil where nobody knows.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }
}
