public import HTTP1

/// How a ``TestServer`` behaves. The defaults suit tests and load runs alike.
public struct ServerOptions: Sendable {
    /// What the parser refuses. Bodies that are not kept (``TestServer``: `/upload`, `/echo`) may be as long as
    /// `bodyBytes` here says: without limit by default.
    public var limits = ParserLimits()
    /// The longest body a route may collect to show it; a longer one is answered 413. Eight times what the
    /// largest body of a sensible test has, and a bound on what a client can make the server hold.
    public var collectedBodyBytes = 8 << 20
    /// A connection on which nothing moves for so long is closed; inside a request it gets a 408 first. nginx waits as
    /// long. Waits that a route was asked for (`/delay`, `/never`) do not count.
    public var idleTimeout = Duration.seconds(75)
    /// The backlog of the listening sockets; the system's `net.core.somaxconn` bounds it as well.
    public var backlog: Int32 = 4096

    /// The defaults.
    public init() {}
}
