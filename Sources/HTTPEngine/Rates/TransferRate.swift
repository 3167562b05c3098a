/// How many bytes a second, and how many at once after a rest.
public struct TransferRate: Hashable, Sendable {
    /// At least one.
    public let bytesPerSecond: Int
    /// At least one. What has been saved up while nothing moved, and is there at the start.
    public let burst: Int

    /// - Parameters:
    ///   - bytesPerSecond: at least one.
    ///   - burst: nil for a tenth of a second's worth.
    public init(bytesPerSecond: Int, burst: Int? = nil) {
        self.bytesPerSecond = max(1, bytesPerSecond)
        self.burst = max(1, burst ?? bytesPerSecond / 10)
    }
}
