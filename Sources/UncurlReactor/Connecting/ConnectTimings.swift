/// The times of the steps to a connection, by the loop's clock.
public struct ConnectTimings: Hashable, Sendable {
    /// When the look-up began; nil if no name had to be looked up.
    public var lookupStart: Instant?
    /// When there were addresses to begin with, after the wait for the preferred family.
    public var lookupEnd: Instant?
    /// When the first attempt began, which need not be the one that won.
    public var connectStart: Instant
    /// When the winning attempt was connected.
    public var connectEnd: Instant
    /// The address that is connected.
    public var address: SocketAddress
    /// How many attempts were begun, the winner included.
    public var attempts: Int
}
