internal import URLLoading

/// The progress of the content of a request or of an answer, in bytes. It is a snapshot. Later snapshots of a transfer
/// are never smaller.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes transferred so far.
    public let completed: Int64
    /// The expected bytes; nil where they are unknown.
    public let total: Int64?

    /// A snapshot, with both counts in bytes.
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

    /// Before the head of an answer has come, its length is unknown.
    init(receivedBy task: URLSessionTask?) {
        self.init(
            task?.countOfBytesReceived ?? 0,
            of: task?.response == nil ? -1 : task?.countOfBytesExpectedToReceive ?? -1
        )
    }

    /// From 0 to 1; nil where the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }
}
