/// What the kernel knows of this machine's network, as far as it tells whether others can be reached.
public struct NetworkState: Hashable, Sendable {
    /// An interface.
    public struct Link: Hashable, Sendable {
        public let index: Int32
        public let name: String
        public let isLoopback: Bool
        /// Switched on by whoever administers it (IFF_UP).
        public let isUp: Bool
        /// On, and connected to something (IFF_UP and IFF_RUNNING: carrier, and not dormant).
        public let isRunning: Bool
        public let medium: LinkMedium

        public init(
            index: Int32,
            name: String,
            isLoopback: Bool = false,
            isUp: Bool = true,
            isRunning: Bool = true,
            medium: LinkMedium = .wired
        ) {
            self.index = index
            self.name = name
            self.isLoopback = isLoopback
            self.isUp = isUp
            self.isRunning = isRunning
            self.medium = medium
        }
    }

    public struct Address: Hashable, Sendable {
        public let link: Int32
        public let address: IPAddress
    }

    /// A way to everywhere, or to half of it: a VPN often has two halves of its own, so that the default route stays.
    public struct Route: Hashable, Sendable {
        public let family: IPAddress.Family
        public let table: UInt32
        /// 0 or 1.
        public let prefixLength: UInt8
        /// Less is preferred.
        public let metric: UInt32
        public let links: [Int32]
    }

    public var links: [Int32: Link] = [:]
    public var addresses: Set<Address> = []
    public var routes: Set<Route> = []

    public init() {}

    /// By which medium addresses of that family outside of the local networks are reached; nil: they are not.
    ///
    /// There must be a default route by a link that runs, and an address that an answer could come back to.
    public func medium(of family: IPAddress.Family) -> LinkMedium? {
        let hasAddress = addresses.contains { one in
            one.address.family == family && !one.address.isLinkLocal && links[one.link]?.isRunning == true
                && links[one.link]?.isLoopback == false
        }
        guard hasAddress else { return nil }
        var best: (Route, Link)?
        for route in routes where route.family == family {
            let link = route.links.compactMap { links[$0] }.first { $0.isRunning && !$0.isLoopback }
            guard let link else { continue }
            if let best, !Self.precedes(route, best.0) { continue }
            best = (route, link)
        }
        return best?.1.medium
    }

    /// The more special, then the one of less metric; then by table, so that the answer does not change by itself.
    private static func precedes(_ left: Route, _ right: Route) -> Bool {
        if left.prefixLength != right.prefixLength { return left.prefixLength > right.prefixLength }
        if left.metric != right.metric { return left.metric < right.metric }
        if left.table != right.table { return left.table < right.table }
        return left.links.lexicographicallyPrecedes(right.links)
    }
}

extension IPAddress {
    /// Good for the neighbours alone, and without a router's help (RFC 3927, RFC 4291 §2.5.6); loopback too.
    var isLinkLocal: Bool {
        switch self {
        case .v4(let address): address.bits >> 16 == 0xA9FE || address.isLoopback
        case .v6(let address): address.high >> 54 == 0x3FA || address == .loopback
        }
    }
}
