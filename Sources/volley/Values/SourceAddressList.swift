import UncurlLoad
import UncurlReactor

/// The addresses that connections use in turn, from `--source-address`: single addresses, comma lists and CIDR blocks.
/// Their port is 0, so the kernel chooses one.
///
/// One source address has some 28,000 ports per destination, so more addresses allow more connections.
enum SourceAddressList {
    /// The most addresses. 65,536 of them have 1.8 billion ports, while `::/0` would fill the memory.
    static let limit = 65_536

    static func parse(_ arguments: [String]) throws(UsageError) -> [SocketAddress] {
        var all: [SocketAddress] = []
        for argument in arguments {
            for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
                all += try block(String(part))
                guard all.count <= limit else { throw tooMany(argument) }
            }
        }
        guard let family = all.first?.family, all.contains(where: { $0.family != family }) else { return all }
        throw UsageError("--source-address mixes IPv4 and IPv6: use addresses of one family")
    }

    private static func block(_ text: String) throws(UsageError) -> [SocketAddress] {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = SocketAddress(numericHost: String(first), port: 0) else {
            throw UsageError(
                "--source-address \(quoted(text)) is not an IP address: use one such as 127.0.0.2, "
                    + "or a block such as 127.0.0.0/28"
            )
        }
        guard parts.count == 2 else { return [address] }
        switch address {
        case .v4(let base, _):
            let size = try size(of: parts[1], width: 32, text)
            let start = base.bits & ~UInt32(size - 1)
            // The first and the last address of a block are the network and its broadcast address, except in a /31 (RFC
            // 3021) and a /32.
            let hosts = size > 2 ? 1..<(size - 1) : 0..<size
            return hosts.map { .v4(IPv4Address(bits: start | UInt32($0)), port: 0) }
        case .v6(let base, _):
            let size = try size(of: parts[1], width: 128, text)
            let start = base.low & ~UInt64(size - 1)
            return (0..<size).map {
                .v6(IPv6Address(high: base.high, low: start | UInt64($0), scope: base.scope), port: 0)
            }
        case .unix: return []
        }
    }

    /// The number of addresses of a prefix.
    private static func size(of prefix: Substring, width: Int, _ text: String) throws(UsageError) -> Int {
        guard prefix.utf8.allSatisfy({ (48...57).contains($0) }), let bits = Int(prefix), bits <= width else {
            throw UsageError(
                "--source-address \(quoted(text)) has a bad prefix length: use a number from 0 to \(width)"
            )
        }
        guard width - bits <= 16 else { throw tooMany(text) }
        return 1 << (width - bits)
    }

    private static func tooMany(_ text: String) -> UsageError {
        UsageError("--source-address \(quoted(text)) makes more than \(limit) addresses: use a smaller block")
    }
}
