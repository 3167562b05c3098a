internal import HTTPSemantics

/// What each proxy has asked for, so that it asks once and not at every connection.
struct ProxyAuthenticators {
    /// More than anybody configures. Who names other credentials with each request pays a round trip now and then
    /// rather than have them all remembered.
    private static let capacity = 64

    private var known: [Proxy: Authenticator] = [:]

    var count: Int { known.count }

    subscript(proxy: Proxy) -> Authenticator {
        get { known[proxy] ?? Authenticator(.proxy, proxy.credentials, isPreemptive: proxy.isPreemptive) }
        set {
            if known.count >= ProxyAuthenticators.capacity, known[proxy] == nil { known = [:] }
            known[proxy] = newValue
        }
    }
}
