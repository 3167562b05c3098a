/// How many bytes move in a second, and how many at once after a pause.
public struct TransferRate: Hashable, Sendable {
    /// The rate; at least one.
    public let bytesPerSecond: Int
    /// How many bytes may move at once after a pause, and at the start of a connection; at least one.
    public let burst: Int

    /// - Parameters:
    ///   - bytesPerSecond: at least one.
    ///   - burst: nil for a tenth of a second's worth.
    public init(bytesPerSecond: Int, burst: Int? = nil) {
        self.bytesPerSecond = max(1, bytesPerSecond)
        self.burst = max(1, burst ?? bytesPerSecond / 10)
    }
}
