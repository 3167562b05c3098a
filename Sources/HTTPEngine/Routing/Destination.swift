internal import Reactor
internal import TLS

/// What tells one group of interchangeable connections from another: everything that decides which server is at the
/// other end, and everything that decides whether we believe it. Re-use across any of it is how clients come to send
/// one user's request under another's name.
///
/// A class, made once a request: most requests are compared with the connection at hand by being the same object.
final class Destination: Hashable, Sendable {
    let origin: Origin
    let endpoint: Endpoint
    /// Credentials and all.
    let proxy: ProxyChoice
    /// What begins as HTTP is to become something else, which an HTTP proxy can only pass on through a tunnel.
    let needsTunnel: Bool
    /// Nil: one of the engine's, or the system's choice.
    let localAddress: SocketAddress?
    /// For https; nil: the engine's own.
    let context: TLSContext?
    /// The name to ask for and to verify instead of the origin's host.
    let serverName: String?

    init(
        origin: Origin,
        endpoint: Endpoint = .origin,
        proxy: ProxyChoice = .configured,
        needsTunnel: Bool = false,
        localAddress: SocketAddress? = nil,
        context: TLSContext? = nil,
        serverName: String? = nil
    ) {
        self.origin = origin
        self.endpoint = endpoint
        self.proxy = proxy
        self.needsTunnel = needsTunnel
        self.localAddress = localAddress
        // A plain origin's connections are the same whatever its requests say about TLS.
        let isSecure = origin.scheme == .https
        self.context = isSecure ? context : nil
        self.serverName = isSecure ? serverName : nil
    }

    static func == (one: Destination, other: Destination) -> Bool {
        one === other
            || one.origin == other.origin && one.endpoint == other.endpoint
                && one.proxy == other.proxy && one.needsTunnel == other.needsTunnel
                && one.localAddress == other.localAddress && one.context === other.context
                && one.serverName == other.serverName
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(endpoint)
        hasher.combine(proxy)
        hasher.combine(localAddress)
        hasher.combine(serverName)
    }
}
