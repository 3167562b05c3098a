/// The proxies by origin.
public struct OriginProxies: Hashable, Sendable {
    /// The proxy for http URLs; nil for none.
    public var http: Proxy?
    /// The proxy for https URLs; nil for none. The protocol with the proxy itself is another matter.
    public var https: Proxy?
    /// The hosts that are reached without a proxy.
    public var exceptions: ProxyExceptions

    /// Makes a configuration of proxies by the origin's scheme; nil for none.
    public init(http: Proxy? = nil, https: Proxy? = nil, exceptions: ProxyExceptions = ProxyExceptions()) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// Makes a configuration of one proxy for all origins but the exceptions.
    public init(_ proxy: Proxy, exceptions: ProxyExceptions = ProxyExceptions()) {
        self.init(http: proxy, https: proxy, exceptions: exceptions)
    }

    /// No proxy at all.
    public static let direct = OriginProxies()

    /// Returns the proxy; nil if the origin is reached directly.
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
