/// A message of the kernel about links, addresses and routes (netlink(7), rtnetlink(7)): lengths, types and attributes
/// in the machine's byte order. It reads only the bytes that it is given.
struct NetlinkMessage {
    let type: UInt16
    let flags: UInt16
    /// The number of the request that this answers; 0 for a change. A change that another program has made carries that
    /// program's number, so a number counts only with the port of the socket that chose it.
    let sequence: UInt32
    let payload: ArraySlice<UInt8>

    static let headerLength = 16
    /// Messages and attributes begin at multiples of this.
    static let alignment = 4

    // The types of messages.
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    static let newLink: UInt16 = 16
    static let deleteLink: UInt16 = 17
    static let getLink: UInt16 = 18
    static let newAddress: UInt16 = 20
    static let deleteAddress: UInt16 = 21
    static let getAddress: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let deleteRoute: UInt16 = 25
    static let getRoute: UInt16 = 26

    private static let requestFlag: UInt16 = 0x01
    /// The table changed while it was being sent: it has to be requested again.
    static let interruptedFlag: UInt16 = 0x10
    /// The whole table (NLM_F_ROOT and NLM_F_MATCH).
    static let dumpFlag: UInt16 = 0x300

    /// Returns the messages of one datagram; a message that is cut off is left out.
    ///
    /// - Parameter port: the port of the socket that received them.
    static func all(in bytes: ArraySlice<UInt8>, port: UInt32) -> [NetlinkMessage] {
        var found: [NetlinkMessage] = []
        var rest = bytes
        while let length = rest.number(at: 0, as: UInt32.self), length >= headerLength, length <= rest.count,
            let type = rest.number(at: 4, as: UInt16.self), let flags = rest.number(at: 6, as: UInt16.self),
            let number = rest.number(at: 8, as: UInt32.self), let receiver = rest.number(at: 12, as: UInt32.self)
        {
            let sequence = receiver == port ? number : 0
            let count = Int(length)
            let payload = rest.dropFirst(headerLength).prefix(count - headerLength)
            found.append(NetlinkMessage(type: type, flags: flags, sequence: sequence, payload: payload))
            rest = rest.dropFirst(aligned(count))
        }
        return found
    }

    /// Returns the attributes after a fixed part of that many bytes, by type; of several of one type, the last.
    func attributes(after count: Int) -> [UInt16: ArraySlice<UInt8>] { Self.attributes(in: payload.dropFirst(count)) }

    static func attributes(in bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var found: [UInt16: ArraySlice<UInt8>] = [:]
        var rest = bytes
        while let length = rest.number(at: 0, as: UInt16.self), length >= 4, Int(length) <= rest.count,
            let type = rest.number(at: 2, as: UInt16.self)
        {
            // NLA_F_NESTED and NLA_F_NET_BYTEORDER are not part of the type.
            found[type & 0x3FFF] = rest.dropFirst(4).prefix(Int(length) - 4)
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return found
    }

    static func aligned(_ count: Int) -> Int { (count + alignment - 1) & ~(alignment - 1) }

    // MARK: Requests

    /// - Parameters:
    ///   - payload: the fixed part, and attributes made by ``attribute(_:_:)``.
    static func request(_ type: UInt16, _ flags: UInt16, sequence: UInt32, payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt32(clamping: headerLength + payload.count))
        bytes.append(number: type)
        bytes.append(number: requestFlag | flags)
        bytes.append(number: sequence)
        bytes.append(number: UInt32(0))
        return bytes + payload
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(clamping: 4 + value.count))
        bytes.append(number: type)
        bytes += value
        return bytes + [UInt8](repeating: 0, count: aligned(value.count) - value.count)
    }
}

extension ArraySlice<UInt8> {
    /// Returns a number in the machine's byte order; nil if the bytes end before it.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number? {
        guard count >= offset + MemoryLayout<Number>.size else { return nil }
        return unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    /// The text up to the first NUL.
    var text: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }
}

extension [UInt8] {
    /// Appends a number in the machine's byte order.
    mutating func append(number: some FixedWidthInteger & BitwiseCopyable) {
        unsafe Swift.withUnsafeBytes(of: number) { unsafe append(contentsOf: $0) }
    }
}

/// Reads links, addresses and routes from the kernel's messages (rtnetlink(7)). A message that it cannot read gives
/// nil: it comes from the kernel, so it is only newer than this code.
extension NetlinkMessage {
    /// - Parameter folder: where devices tell their kind.
    func link(folder: String) -> NetworkState.Link? {
        // struct ifinfomsg: family, pad, type, index, flags, change.
        guard let hardware = payload.number(at: 2, as: UInt16.self),
            let index = payload.number(at: 4, as: Int32.self),
            let flags = payload.number(at: 8, as: UInt32.self), payload.count >= 16
        else { return nil }
        let attributes = self.attributes(after: 16)
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

    var linkIndex: Int32? { payload.number(at: 4, as: Int32.self) }

    /// Reads an address. Nil also for an address that is not in use, because it is a duplicate on its link or is still
    /// being checked for one.
    var address: NetworkState.Address? {
        // struct ifaddrmsg: family, prefix length, flags, scope, index.
        guard let family = payload.first, let flags = payload.number(at: 2, as: UInt8.self),
            let index = payload.number(at: 4, as: UInt32.self)
        else { return nil }
        let attributes = self.attributes(after: 8)
        // IFA_FLAGS has the flags that do not fit into eight bits; IFA_F_TENTATIVE and IFA_F_DADFAILED are among them.
        let all = attributes[8]?.number(at: 0, as: UInt32.self) ?? UInt32(flags)
        guard all & 0x40 == 0, all & 0x08 == 0 else { return nil }
        // On a point-to-point link, IFA_LOCAL is this machine's address, and IFA_ADDRESS the other end's.
        guard let bytes = attributes[2] ?? attributes[1], let address = Self.address(bytes, family) else { return nil }
        return NetworkState.Address(link: Int32(truncatingIfNeeded: index), address: address)
    }

    /// Reads a default route; nil for any other route.
    var defaultRoute: NetworkState.Route? {
        // An entry of IPv6's cache (RTM_F_CLONED) is not one of its table.
        guard routeKind == Self.unicast, let flags = payload.number(at: 8, as: UInt32.self), flags & 0x200 == 0,
            let prefixLength = payload.number(at: 1, as: UInt8.self), prefixLength <= 1,
            let table = payload.number(at: 4, as: UInt8.self),
            let family: IPAddress.Family = payload.first == 2 ? .v4 : payload.first == 10 ? .v6 : nil
        else { return nil }
        let attributes = self.attributes(after: Self.routeLength)
        let links = Self.links(attributes)
        guard !links.isEmpty else { return nil }
        return NetworkState.Route(
            family: family,
            table: attributes[15]?.number(at: 0, as: UInt32.self) ?? UInt32(table),
            prefixLength: prefixLength,
            metric: attributes[6]?.number(at: 0, as: UInt32.self) ?? 0,
            links: links
        )
    }

    /// Returns the answer to a look-up: the link, or that the kernel sends nothing there.
    var path: NetworkPath {
        switch routeKind {
        case Self.local: .local
        case Self.unicast: Self.links(attributes(after: Self.routeLength)).first.map { .link($0) } ?? .none
        default: .none
        }
    }

    /// struct rtmsg: family, lengths of destination and source, type of service, table, protocol, scope, type, flags.
    private static let routeLength = 12
    // RTN_UNICAST and RTN_LOCAL.
    private static let unicast: UInt8 = 1
    private static let local: UInt8 = 2
    private var routeKind: UInt8? { payload.count < Self.routeLength ? nil : payload.number(at: 7, as: UInt8.self) }

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
