/// Which proxies apply to a request.
enum ProxyChoice: Hashable, Sendable {
    /// Those of the engine, which never change.
    case configured
    case direct
    case via(Proxy)

    /// - Parameter own: the request's proxies; nil if it leaves them to the engine.
    init(_ own: OriginProxies?, for origin: Origin) {
        if let own {
            self = own.proxy(for: origin).map(ProxyChoice.via) ?? .direct
        } else {
            self = .configured
        }
    }

    func resolved(_ configuration: OriginProxies, for origin: Origin) -> Proxy? {
        switch self {
        case .configured: configuration.proxy(for: origin)
        case .direct: nil
        case .via(let proxy): proxy
        }
    }
}
