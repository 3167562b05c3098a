/// Bytes that a task has just sent, or has just written to a file.
public struct TransferredBytes: Hashable, Sendable {
    /// The number of bytes since the last call.
    public let count: Int64
    /// The number of bytes so far.
    public let total: Int64
    /// The expected number of bytes; nil where it is unknown.
    public let expected: Int64?

    init(_ count: Int64, _ total: Int64, of expected: Int64) {
        (self.count, self.total) = (count, total)
        self.expected = expected >= 0 ? expected : nil
    }
}

/// Where a resumed download continues.
public struct ResumedOffset: Hashable, Sendable {
    /// The number of bytes that earlier attempts have loaded.
    public let offset: Int64
    /// The expected number of bytes; nil where it is unknown.
    public let expected: Int64?

    init(_ offset: Int64, of expected: Int64) {
        self.offset = offset
        self.expected = expected >= 0 ? expected : nil
    }
}
