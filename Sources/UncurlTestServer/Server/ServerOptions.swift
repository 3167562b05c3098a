public import UncurlHTTP1

/// The settings of a ``TestServer``. The defaults suit tests and load runs.
public struct ServerOptions: Sendable {
    /// The limits of the parser. Bodies that are not kept (`/upload`, `/echo`) may have `bodyBytes`, which is unlimited
    /// by default.
    public var limits = ParserLimits()
    /// The longest body that a route collects; a longer one is answered 413. It limits the memory that a client can
    /// occupy, and is eight times the largest body of a usual test.
    public var collectedBodyBytes = 8 << 20
    /// The time after which an idle connection is closed; an incomplete request gets a 408 first. nginx waits as long.
    /// Requested delays (`/delay`, `/never`) do not count.
    public var idleTimeout = Duration.seconds(75)
    /// The backlog of the listening sockets; the system's `net.core.somaxconn` bounds it as well.
    public var backlog: Int32 = 4096

    /// The defaults.
    public init() {}
}
