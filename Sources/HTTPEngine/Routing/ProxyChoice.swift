/// Whose word on proxies counts for a request.
enum ProxyChoice: Hashable, Sendable {
    /// The engine's, which stays the same for its life.
    case configured
    case direct
    case via(Proxy)

    /// - Parameter own: the request's; nil if it leaves that to the engine.
    init(_ own: ProxyConfiguration?, for origin: Origin) {
        if let own {
            self = own.proxy(for: origin).map(ProxyChoice.via) ?? .direct
        } else {
            self = .configured
        }
    }

    func resolved(_ configuration: ProxyConfiguration, for origin: Origin) -> Proxy? {
        switch self {
        case .configured: configuration.proxy(for: origin)
        case .direct: nil
        case .via(let proxy): proxy
        }
    }
}
