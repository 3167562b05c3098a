/// Which proxy serves which origin.
public struct ProxyConfiguration: Hashable, Sendable {
    /// For http URLs; nil for none.
    public var http: Proxy?
    /// For https URLs; nil for none. Says nothing of how the proxy itself is spoken to.
    public var https: Proxy?
    /// The hosts that are reached without a proxy.
    public var exceptions: ProxyExceptions

    /// Proxies by the origin's scheme; nil for none.
    public init(http: Proxy? = nil, https: Proxy? = nil, exceptions: ProxyExceptions = ProxyExceptions()) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// One proxy for all origins but the exceptions.
    public init(_ proxy: Proxy, exceptions: ProxyExceptions = ProxyExceptions()) {
        self.init(http: proxy, https: proxy, exceptions: exceptions)
    }

    /// No proxy at all.
    public static let direct = ProxyConfiguration()

    /// Nil: the origin is reached directly.
    public func proxy(for origin: Origin) -> Proxy? {
        let proxy =
            switch origin.scheme {
            case .http: http
            case .https: https
            }
        guard let proxy, !exceptions.covers(origin.host) else { return nil }
        return proxy
    }
}
