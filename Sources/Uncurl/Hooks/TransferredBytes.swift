/// Bytes that a task has just sent, or has just written to a file.
public struct TransferredBytes: Hashable, Sendable {
    /// In bytes: since the hook was called last.
    public let count: Int64
    /// In bytes: so far.
    public let total: Int64
    /// In bytes: in the end; nil where it is not known.
    public let expected: Int64?

    init(_ count: Int64, _ total: Int64, of expected: Int64) {
        (self.count, self.total) = (count, total)
        self.expected = expected >= 0 ? expected : nil
    }
}

/// Where a download goes on.
public struct ResumedOffset: Hashable, Sendable {
    /// In bytes: what is there already.
    public let offset: Int64
    /// In bytes: in the end; nil where it is not known.
    public let expected: Int64?

    init(_ offset: Int64, of expected: Int64) {
        self.offset = offset
        self.expected = expected >= 0 ? expected : nil
    }
}
