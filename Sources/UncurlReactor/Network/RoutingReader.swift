/// Reads links, addresses and routes from the kernel's messages (rtnetlink(7)). A message that it cannot read gives
/// nil: it comes from the kernel, so it is only newer than this code.
struct RoutingReader {
    /// Where devices tell their kind.
    var folder = LinkMedium.systemFolder

    func link(_ message: NetlinkMessage) -> NetworkState.Link? {
        // struct ifinfomsg: family, pad, type, index, flags, change.
        guard let hardware = message.payload.number(at: 2, as: UInt16.self),
            let index = message.payload.number(at: 4, as: Int32.self),
            let flags = message.payload.number(at: 8, as: UInt32.self), message.payload.count >= 16
        else { return nil }
        let attributes = message.attributes(after: 16)
        let name = attributes[3]?.text ?? ""
        // IFLA_LINKINFO holds IFLA_INFO_KIND.
        let kind = attributes[18].map { NetlinkMessage.attributes(in: $0) }?[1]?.text ?? ""
        let isUp = flags & 0x1 != 0
        let isLoopback = flags & 0x8 != 0
        return NetworkState.Link(
            index: index,
            name: name,
            isLoopback: isLoopback,
            isUp: isUp,
            isRunning: isUp && flags & 0x40 != 0,
            medium: isLoopback ? .wired : LinkMedium.of(name: name, hardware: hardware, kind: kind, folder: folder)
        )
    }

    func linkIndex(_ message: NetlinkMessage) -> Int32? { message.payload.number(at: 4, as: Int32.self) }

    /// Reads an address. Nil also for an address that is not in use, because it is a duplicate on its link or is still
    /// being checked for one.
    func address(_ message: NetlinkMessage) -> NetworkState.Address? {
        // struct ifaddrmsg: family, prefix length, flags, scope, index.
        guard let family = message.payload.first, let flags = message.payload.number(at: 2, as: UInt8.self),
            let index = message.payload.number(at: 4, as: UInt32.self)
        else { return nil }
        let attributes = message.attributes(after: 8)
        // IFA_FLAGS has the flags that do not fit into eight bits; IFA_F_TENTATIVE and IFA_F_DADFAILED are among them.
        let all = attributes[8]?.number(at: 0, as: UInt32.self) ?? UInt32(flags)
        guard all & 0x40 == 0, all & 0x08 == 0 else { return nil }
        // On a point-to-point link, IFA_LOCAL is this machine's address, and IFA_ADDRESS the other end's.
        guard let bytes = attributes[2] ?? attributes[1], let address = Self.address(bytes, family) else { return nil }
        return NetworkState.Address(link: Int32(truncatingIfNeeded: index), address: address)
    }

    /// Reads a default route; nil for any other route.
    func defaultRoute(_ message: NetlinkMessage) -> NetworkState.Route? {
        guard let header = RouteHeader(message), header.kind == .unicast, header.prefixLength <= 1, !header.isClone,
            let family = header.family
        else { return nil }
        let attributes = message.attributes(after: RouteHeader.length)
        let links = Self.links(attributes)
        guard !links.isEmpty else { return nil }
        return NetworkState.Route(
            family: family,
            table: attributes[15]?.number(at: 0, as: UInt32.self) ?? UInt32(header.table),
            prefixLength: header.prefixLength,
            metric: attributes[6]?.number(at: 0, as: UInt32.self) ?? 0,
            links: links
        )
    }

    /// Returns the answer to a look-up: the link, or that the kernel sends nothing there.
    func path(_ message: NetlinkMessage) -> NetworkPath {
        guard let header = RouteHeader(message) else { return .none }
        switch header.kind {
        case .local: return .local
        case .unicast: return Self.links(message.attributes(after: RouteHeader.length)).first.map { .link($0) } ?? .none
        case .other: return .none
        }
    }

    /// Returns the links of RTA_OIF, or those of RTA_MULTIPATH.
    private static func links(_ attributes: [UInt16: ArraySlice<UInt8>]) -> [Int32] {
        if let one = attributes[4]?.number(at: 0, as: Int32.self) { return [one] }
        var found: [Int32] = []
        var rest = attributes[9] ?? []
        // struct rtnexthop: length, flags, hops, index.
        while let length = rest.number(at: 0, as: UInt16.self), length >= 8, Int(length) <= rest.count,
            let index = rest.number(at: 4, as: Int32.self)
        {
            found.append(index)
            rest = rest.dropFirst(NetlinkMessage.aligned(Int(length)))
        }
        return found
    }

    private static func address(_ bytes: ArraySlice<UInt8>, _ family: UInt8) -> IPAddress? {
        switch (family, bytes.count) {
        case (2, 4): .v4(IPv4Address(bits: bytes.reduce(0) { $0 << 8 | UInt32($1) }))
        case (10, 16):
            .v6(
                IPv6Address(
                    high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                    low: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
                )
            )
        default: nil
        }
    }
}

/// Where packets to an address go.
public enum NetworkPath: Hashable, Sendable {
    /// To this machine itself.
    case local
    /// Out of the link of that index.
    case link(Int32)
    /// Nowhere: there is no route, or one that forbids it.
    case none
}

/// struct rtmsg: family, lengths of destination and source, type of service, table, protocol, scope, type, flags.
private struct RouteHeader {
    enum Kind { case unicast, local, other }

    static let length = 12

    let family: IPAddress.Family?
    let prefixLength: UInt8
    let table: UInt8
    let kind: Kind
    /// Whether it is an entry of IPv6's cache (RTM_F_CLONED), and not of its table.
    let isClone: Bool

    init?(_ message: NetlinkMessage) {
        let bytes = Array(message.payload.prefix(Self.length))
        guard bytes.count == Self.length, let flags = message.payload.number(at: 8, as: UInt32.self) else { return nil }
        family =
            switch bytes[0] {
            case 2: .v4
            case 10: .v6
            default: nil
            }
        prefixLength = bytes[1]
        table = bytes[4]
        kind =
            switch bytes[7] {
            case 1: .unicast
            case 2: .local
            default: .other
            }
        isClone = flags & 0x200 != 0
    }
}
