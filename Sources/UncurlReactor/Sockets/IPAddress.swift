internal import UncurlText

/// An IPv4 address, in host order.
public struct IPv4Address: Hashable, Sendable, CustomStringConvertible {
    /// The four octets; the first is the most significant.
    public var bits: UInt32

    /// Makes an address from its four octets, the first the most significant.
    public init(bits: UInt32) { self.bits = bits }

    /// 127.0.0.1.
    public static let loopback = IPv4Address(bits: 0x7F00_0001)
    /// 0.0.0.0, for listening on all addresses.
    public static let any = IPv4Address(bits: 0)

    /// Whether it is in 127.0.0.0/8 (RFC 1122 §3.2.1.3).
    public var isLoopback: Bool { bits >> 24 == 127 }

    /// Reads exactly four decimal parts without leading zeros. `127.1`, `0x7f.1` and `010.0.0.1` mean different hosts
    /// to different programs, so they are no addresses here (RFC 3986 §3.2.2, §7.4).
    public init?(_ text: String) {
        guard let bits = ipv4Bits(text) else { return nil }
        self.bits = bits
    }

    public var description: String { ipText(v4: bits) }
}

/// An IPv6 address, in host order, with the scope (interface index) of a link-local one; 0 for none.
public struct IPv6Address: Hashable, Sendable, CustomStringConvertible {
    /// The first eight octets.
    public var high: UInt64
    /// The last eight octets.
    public var low: UInt64
    /// The interface's index for a link-local address; 0 for none (RFC 4007 §6).
    public var scope: UInt32

    /// Makes an address from its halves.
    public init(high: UInt64, low: UInt64, scope: UInt32 = 0) {
        self.high = high
        self.low = low
        self.scope = scope
    }

    /// ::1.
    public static let loopback = IPv6Address(high: 0, low: 1)
    /// ::, for listening on all addresses.
    public static let any = IPv6Address(high: 0, low: 0)

    /// Reads the text of RFC 4291 §2.2, with an optional `%interface` or `%index` (RFC 4007 §11).
    public init?(_ text: String) {
        guard let (high, low, scope) = ipv6Parts(text) else { return nil }
        self.init(high: high, low: low, scope: scope)
    }

    public var description: String { ipText(v6: high, low, scope: scope) }
}

/// An address of either family, without a port: the result of a look-up.
public enum IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 address.
    case v4(IPv4Address)
    /// An IPv6 address.
    case v6(IPv6Address)

    /// The protocol of addresses.
    public enum Family: Hashable, Sendable {
        /// IPv4.
        case v4
        /// IPv6.
        case v6
    }

    /// The protocol of the address.
    public var family: Family {
        switch self {
        case .v4: .v4
        case .v6: .v6
        }
    }

    /// Reads a numeric address and nothing else; see the two families' initialisers for what is refused.
    public init?(_ text: String) {
        if let address = IPv4Address(text) {
            self = .v4(address)
        } else if let address = IPv6Address(text) {
            self = .v6(address)
        } else {
            return nil
        }
    }

    public var description: String {
        switch self {
        case .v4(let address): address.description
        case .v6(let address): address.description
        }
    }
}
