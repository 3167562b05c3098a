/// When the steps to a connection happened, by the loop's clock.
public struct ConnectTimings: Hashable, Sendable {
    /// Nil if no name had to be looked up.
    public var lookupStart: Instant?
    /// When there were addresses to begin with; the wait for the preferred family is part of it.
    public var lookupEnd: Instant?
    /// When the first attempt began, which need not be the one that won.
    public var connectStart: Instant
    /// When the winning attempt was connected.
    public var connectEnd: Instant
    /// What the connection leads to.
    public var address: SocketAddress
    /// Attempts begun, the winner included.
    public var attempts: Int
}
