import UncurlEngine
import UncurlLoad
import UncurlReactor
import UncurlSemantics
import UncurlText

/// The addresses that connections use in turn, from `--source-address`: single addresses, comma lists and CIDR blocks.
/// Their port is 0, so the kernel chooses one.
///
/// One source address has some 28,000 ports per destination, so more addresses allow more connections.
extension LoadOptions {
    /// The most addresses. 65,536 of them have 1.8 billion ports, while `::/0` would fill the memory.
    private static var limit: Int { 65_536 }

    static func sources(_ arguments: [String]) throws(UsageError) -> [SocketAddress] {
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

    private static func size(of prefix: Substring, width: Int, _ text: String) throws(UsageError) -> Int {
        guard prefix.utf8.allSatisfy(\.isASCIIDigit), let bits = Int(prefix), bits <= width else {
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

extension LoadOptions {
    /// Reads `HOST1:PORT1:HOST2:PORT2`, as in curl. An empty HOST1 or PORT1 matches any; an empty HOST2 or PORT2 keeps
    /// the URL's. An IPv6 address has brackets.
    static func connectToRule(_ text: String) throws(UsageError) -> ConnectToRule {
        let parts = try split(text)
        return (try host(parts[0], text), try port(parts[1], text), try host(parts[2], text), try port(parts[3], text))
    }

    /// Splits the text into four fields. Colons in brackets are part of an address.
    private static func split(_ text: String) throws(UsageError) -> [String] {
        var parts = [""]
        var inBrackets = false
        for character in text {
            switch character {
            case "[": inBrackets = true
            case "]": inBrackets = false
            default: break
            }
            if character == ":" && !inBrackets { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        try need(
            parts.count == 4 && !inBrackets,
            "--connect-to \(quoted(text)) is not HOST1:PORT1:HOST2:PORT2: use one such as example.com:80:127.0.0.1:8080"
        )
        return parts
    }

    private static func host(_ part: String, _ text: String) throws(UsageError) -> URLHost? {
        guard !part.isEmpty else { return nil }
        do throws(URLHost.Problem) {
            return try URLHost(part)
        } catch {
            throw UsageError(error.words(on: "--connect-to \(quoted(text))"))
        }
    }

    private static func port(_ part: String, _ text: String) throws(UsageError) -> UInt16? {
        guard !part.isEmpty else { return nil }
        guard part.utf8.allSatisfy(\.isASCIIDigit), let port = UInt16(part),
            port > 0
        else { throw UsageError("--connect-to \(quoted(text)) has a port out of range: use 1 to 65535") }
        return port
    }
}
