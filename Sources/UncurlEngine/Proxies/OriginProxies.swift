internal import UncurlHTTP1
internal import UncurlReactor
public import UncurlSemantics

/// The proxies by origin.
public struct OriginProxies: Hashable, Sendable {
    /// The proxy for http URLs; nil for none.
    public var http: Proxy?
    /// The proxy for https URLs; nil for none. The protocol with the proxy itself is another matter.
    public var https: Proxy?
    /// The hosts that are reached without a proxy.
    public var exceptions: ProxyExceptions

    /// Makes a configuration of proxies by the origin's scheme; nil for none.
    public init(http: Proxy? = nil, https: Proxy? = nil, exceptions: ProxyExceptions = ProxyExceptions()) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// Makes a configuration of one proxy for all origins but the exceptions.
    public init(_ proxy: Proxy, exceptions: ProxyExceptions = ProxyExceptions()) {
        self.init(http: proxy, https: proxy, exceptions: exceptions)
    }

    /// No proxy at all.
    public static let direct = OriginProxies()

    /// Returns the proxy; nil if the origin is reached directly.
    public func proxy(for origin: Origin) -> Proxy? {
        let proxy =
            switch origin.scheme {
            case .http: http
            case .https: https
            }
        guard let proxy, !exceptions.covers(origin.host) else { return nil }
        return proxy
    }
}

/// Hosts that are reached without a proxy: the list in `no_proxy`, by curl's rules, parsed once.
///
/// - Members are separated by commas or blanks. `*` counts only as the whole list: then no host is proxied.
/// - A name covers itself and all names below it: `example.com`, `.example.com` and `example.com.` mean the same.
///   Labels are compared whole and without case.
/// - An address covers itself; `10.0.0.0/8` and `fd00::/8` cover their networks; IPv6 is written without brackets. They
///   are compared with hosts that are addresses: a name is never looked up for this.
/// - There are no ports and no other wildcards: `host:8080` and `*.example.com` cover nothing, as in curl.
public struct ProxyExceptions: Hashable, Sendable {
    private var coversAll = false
    /// The names in lower case, without dots at either end.
    private var names: Set<String> = []
    private var networks: [Network] = []

    /// Makes a list that covers nothing.
    public init() {}

    /// Reads a list in the form of NO_PROXY: entries separated by commas or blanks; text that is no entry is left out.
    public init(_ list: String) {
        coversAll = list.ascii == "*"
        guard !coversAll else { return }
        for member in list.utf8.split(whereSeparator: { ", \t".utf8.contains($0) }) {
            let text = String(decoding: member, as: UTF8.self)
            if let network = Network(text) {
                networks.append(network)
            } else {
                let name = Self.withoutDots(text, leading: true)
                if !name.isEmpty { names.insert(name) }
            }
        }
    }

    /// - Parameter host: in the form of an origin's `host`, IPv6 without brackets.
    public func covers(_ host: String) -> Bool {
        if coversAll { return true }
        if let address = IPAddress(host) { return networks.contains { $0.contains(address) } }
        // No name has a colon or a percent sign: the rest is an address with something after it (CVE-2025-22870).
        guard host.utf8.count <= Self.lengthLimit, !host.utf8.contains(where: { ":%".utf8.contains($0) }) else {
            return false
        }
        var rest = Self.withoutDots(host, leading: false)[...]
        while !rest.isEmpty {
            if names.contains(String(rest)) { return true }
            guard let dot = rest.firstIndex(of: ".") else { return false }
            rest = rest[dot...].dropFirst()
        }
        return false
    }

    /// The most octets of a name of the DNS (RFC 1035 §2.3.4) in text, with its trailing dot. A longer host does not
    /// exist, and each of its labels would cost a look-up.
    private static let lengthLimit = 254

    private static func withoutDots(_ name: String, leading: Bool) -> String {
        // No host has a name that is not ASCII.
        guard var bare = name.ascii?.lowercased()[...] else { return "" }
        if bare.hasSuffix(".") { bare = bare.dropLast() }
        if leading, bare.hasPrefix(".") { bare = bare.dropFirst() }
        return String(bare)
    }
}

/// An address with the number of leading bits that count (RFC 4632 §3.1, RFC 4291 §2.3). Scopes are ignored.
private enum Network: Hashable, Sendable {
    case v4(UInt32, bits: Int)
    case v6(high: UInt64, low: UInt64, bits: Int)

    init?(_ text: String) {
        guard let parts = text.ascii?.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false),
            let address = IPAddress(String(parts[0]))
        else { return nil }
        let width = address.family == .v4 ? 32 : 128
        var bits = width
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let count = Int(parts[1]), count <= width else {
                return nil
            }
            bits = count
        }
        switch address {
        case .v4(let address): self = .v4(address.bits, bits: bits)
        case .v6(let address): self = .v6(high: address.high, low: address.low, bits: bits)
        }
    }

    func contains(_ address: IPAddress) -> Bool {
        switch (self, address) {
        case (.v4(let own, let bits), .v4(let other)):
            // Shifts by the whole width give 0: then no bit has to match.
            (own ^ other.bits) >> UInt32(32 - bits) == 0
        case (.v6(let high, let low, let bits), .v6(let other)):
            (high ^ other.high) >> UInt64(64 - min(bits, 64)) == 0
                && (low ^ other.low) >> UInt64(64 - max(0, bits - 64)) == 0
        case (.v4, .v6), (.v6, .v4):
            false
        }
    }
}
