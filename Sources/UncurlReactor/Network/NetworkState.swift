/// The kernel's view of this machine's network, as far as it tells whether others can be reached.
public struct NetworkState: Hashable, Sendable {
    /// An interface.
    public struct Link: Hashable, Sendable {
        /// The kernel's number of the interface, by which others refer to it.
        public let index: Int32
        /// The name, such as `eth0`.
        public let name: String
        /// Whether it leads back to this machine (IFF_LOOPBACK).
        public let isLoopback: Bool
        /// Whether its administrator has switched it on (IFF_UP).
        public let isUp: Bool
        /// Whether it is on, and connected to something (IFF_UP and IFF_RUNNING: carrier, and not dormant).
        public let isRunning: Bool
        /// The medium of the interface.
        public let medium: LinkMedium

        /// Makes a link from its parts, for tests and previews of states.
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

    /// An address of an interface.
    public struct Address: Hashable, Sendable {
        /// ``Link/index`` of the interface.
        public let link: Int32
        /// The address, without its prefix length.
        public let address: IPAddress
    }

    /// A route to everywhere, or to half of it: a VPN often has two halves of its own, so that the default route stays.
    public struct Route: Hashable, Sendable {
        /// The family of the addresses that it leads to.
        public let family: IPAddress.Family
        /// The number of its routing table (`ip route show table`).
        public let table: UInt32
        /// The length of the prefix: 0 or 1.
        public let prefixLength: UInt8
        /// The metric: a lower one is preferred.
        public let metric: UInt32
        /// The ``Link/index`` of the interfaces that it leads through; several for a multipath route.
        public let links: [Int32]
    }

    /// The interfaces by ``Link/index``.
    public var links: [Int32: Link] = [:]
    /// The addresses of all interfaces.
    public var addresses: Set<Address> = []
    /// The default routes, and halves of them.
    public var routes: Set<Route> = []

    /// Makes the state of a machine without interfaces.
    public init() {}

    /// Returns the medium by which addresses of that family outside the local networks are reached; nil if they are
    /// not.
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

    /// Whether one route is preferred: the more specific, then the one with the lower metric; then by table, so that
    /// the answer is stable.
    private static func precedes(_ left: Route, _ right: Route) -> Bool {
        if left.prefixLength != right.prefixLength { return left.prefixLength > right.prefixLength }
        if left.metric != right.metric { return left.metric < right.metric }
        if left.table != right.table { return left.table < right.table }
        return left.links.lexicographicallyPrecedes(right.links)
    }
}

extension IPAddress {
    /// Whether it reaches only neighbours, without a router (RFC 3927, RFC 4291 §2.5.6); also true for loopback.
    var isLinkLocal: Bool {
        switch self {
        case .v4(let address): address.bits >> 16 == 0xA9FE || address.isLoopback
        case .v6(let address): address.high >> 54 == 0x3FA || address == .loopback
        }
    }
}
