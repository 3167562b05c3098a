internal import CUncurlLinux

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

/// The medium of a link, as far as people pay for it differently.
public enum LinkMedium: Hashable, Sendable, CaseIterable {
    /// Cables, and everything that is none of the others: loopback, bridges, tunnels.
    case wired
    /// Wi-Fi, by 802.11.
    case wireless
    /// A modem, usually charged by the byte.
    case cellular

    /// Where the kernel tells the kinds of its devices.
    public static let systemFolder = "/sys/class/net"

    /// Returns the medium by the driver's type (DEVTYPE in sysfs), by the kind of a link made in software, and only
    /// then by its name, which systemd derives from the same type (systemd.net-naming-scheme(7)).
    ///
    /// - Parameters:
    ///   - hardware: ARPHRD_….
    ///   - kind: IFLA_INFO_KIND, or empty.
    static func of(name: String, hardware: UInt16, kind: String, folder: String) -> LinkMedium {
        // ARPHRD_IEEE80211 and its two forms for monitors; ARPHRD_RAWIP, which only modems use.
        if (801...803).contains(hardware) { return .wireless }
        if hardware == 519 || kind == "wwan" { return .cellular }
        switch deviceType(name, folder) {
        case "wlan"?: return .wireless
        case "wwan"?: return .cellular
        case .some: return .wired
        case nil: break
        }
        // The kind of a link made in software is known, whatever its name.
        if !kind.isEmpty { return .wired }
        if name.hasPrefix("wl") { return .wireless }
        if name.hasPrefix("ww") || name.hasPrefix("rmnet") { return .cellular }
        return .wired
    }

    /// Returns DEVTYPE; nil if there is no file, or it does not hold the type. The kernel answers from memory: this
    /// does not block.
    private static func deviceType(_ name: String, _ folder: String) -> Substring? {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else { return nil }
        let number = unsafe uncurl_open_read("\(folder)/\(name)/uevent")
        guard number >= 0 else { return nil }
        let file = OwnedFD(taking: number)
        // The file is a few lines; sysfs gives one page at most.
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let length = buffer.count
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file.number, $0.baseAddress, length) }
        guard count > 0 else { return nil }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("DEVTYPE=") }?.dropFirst("DEVTYPE=".count)
    }
}
