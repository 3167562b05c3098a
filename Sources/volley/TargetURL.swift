import Reactor

/// An `http` URL, taken apart by RFC 3986 and RFC 9110 §4.2.1: nothing is repaired, decoded or guessed.
struct TargetURL: Hashable, Sendable {
    enum Host: Hashable, Sendable {
        case name(String)
        case v4(IPv4Address)
        case v6(IPv6Address)
    }

    /// As typed; for the report.
    let text: String
    let host: Host
    let port: UInt16
    /// Path and query as they go into the request line (RFC 9112 §3.2.1); the fragment stays at home.
    let target: String

    init(_ text: String) throws(UsageError) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw UsageError("the URL is empty: use one such as http://127.0.0.1:8080/") }
        let start = try Self.skipScheme(bytes, text)
        let end = bytes[start...].firstIndex { Self.endsAuthority($0) } ?? bytes.endIndex
        (host, port) = try Self.authority(bytes[start..<end], text)
        target = try Self.target(bytes[end...], text)
        self.text = text
    }

    /// The Host field's value (RFC 9110 §7.2): the port only where it is not the scheme's own.
    var hostField: String { port == 80 ? hostText : "\(hostText):\(port)" }

    /// Host and port, IPv6 in brackets.
    var authorityText: String { "\(hostText):\(port)" }

    private var hostText: String { host.description }

    /// The position after `http://`.
    private static func skipScheme(_ bytes: [UInt8], _ text: String) throws(UsageError) -> Int {
        let separator = Array("://".utf8)
        guard let colon = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }), colon > 0,
            !bytes[..<colon].contains(where: { endsAuthority($0) })
        else {
            throw UsageError("the URL \(quoted(text)) has no scheme: write http://HOST:PORT/ in front")
        }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        switch scheme {
        case "http": return colon + separator.count
        case "https":
            throw UsageError("the URL \(quoted(text)) wants TLS, which this release does not speak: use an http:// URL")
        default: throw UsageError("the URL \(quoted(text)) has the scheme \(quoted(scheme)): use http://")
        }
    }

    private static func authority(
        _ bytes: ArraySlice<UInt8>,
        _ text: String
    ) throws(UsageError) -> (Host, UInt16) {
        guard !bytes.contains(UInt8(ascii: "@")) else {
            throw UsageError(
                "the URL \(quoted(text)) holds user information: leave it out and send -H 'Authorization: …' instead"
            )
        }
        let hostEnd: Int
        let host: Host
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]")),
                case let literal = String(decoding: bytes[(bytes.startIndex + 1)..<close], as: UTF8.self),
                let address = IPv6Address(literal), address.scope == 0
            else { throw UsageError("the URL \(quoted(text)) has no IPv6 address in its brackets: write [::1]") }
            host = .v6(address)
            hostEnd = close + 1
        } else {
            hostEnd = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            guard bytes.reversed().firstIndex(of: UInt8(ascii: ":"))?.base ?? (hostEnd + 1) == hostEnd + 1 else {
                throw UsageError("the URL \(quoted(text)) has too many colons: an IPv6 address needs brackets, [::1]")
            }
            host = try Host(validating: String(decoding: bytes[bytes.startIndex..<hostEnd], as: UTF8.self), in: text)
        }
        return (host, try port(bytes[hostEnd...], text))
    }

    private static func port(_ bytes: ArraySlice<UInt8>, _ text: String) throws(UsageError) -> UInt16 {
        guard let colon = bytes.first else { return 80 }
        let digits = bytes.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
        else {
            throw UsageError("the URL \(quoted(text)) has a port that is no number: use 1 to 65535")
        }
        // RFC 3986 §3.2.3: an empty port is the scheme's own.
        guard !digits.isEmpty else { return 80 }
        guard let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0 else {
            throw UsageError("the URL \(quoted(text)) has a port out of range: use 1 to 65535")
        }
        return port
    }

    /// RFC 3986 §3.3, §3.4: *( pchar / "/" ) [ "?" *( pchar / "/" / "?" ) ]
    private static func target(_ bytes: ArraySlice<UInt8>, _ text: String) throws(UsageError) -> String {
        let kept = bytes.prefix { $0 != UInt8(ascii: "#") }
        for index in kept.indices {
            let byte = kept[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < kept.endIndex, isHex(kept[index + 1]), isHex(kept[index + 2]) else {
                    throw UsageError(
                        "the URL \(quoted(text)) has a % without two hex digits: write %25 for the sign itself"
                    )
                }
            } else if !isPathOrQuery(byte) {
                let hex = String(byte, radix: 16, uppercase: true)
                let escape = hex.count == 1 ? "%0\(hex)" : "%\(hex)"
                throw UsageError(
                    "the URL \(quoted(text)) has a byte at position \(index + 1) that may not stand there: write it as \(escape)"
                )
            }
        }
        let target = String(decoding: kept, as: UTF8.self)
        return target.first == "/" ? target : "/" + target
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static let punctuation = Set("-._~!$&'()*+,;=:@/?".utf8)

    private static func isPathOrQuery(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: punctuation.contains(byte)
        }
    }
}

extension TargetURL.Host: CustomStringConvertible {
    /// A DNS name (RFC 1123 §2.1, with the underscore that service names use) or an address in numbers.
    init(validating name: String, in text: String) throws(UsageError) {
        guard !name.isEmpty else { throw UsageError("\(quoted(text)) has no host: write one such as 127.0.0.1") }
        if let address = IPv4Address(name) {
            self = .v4(address)
            return
        }
        for scalar in name.unicodeScalars where !Self.isNameScalar(scalar) {
            let better = scalar.isASCII ? "letters, digits, dots and hyphens only" : "the ASCII form, xn--…"
            throw UsageError("\(quoted(text)) has \(quoted(String(scalar))) in its host: use \(better)")
        }
        var labels = name.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard name.utf8.count <= 253, labels.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 63 }) else {
            throw UsageError("\(quoted(text)) has no usable host name: labels are 1 to 63 bytes, a name at most 253")
        }
        // A name that ends in a number can only be meant as an address (WHATWG URL, "ends in a number").
        guard labels.last?.allSatisfy(\.isNumber) == false else {
            throw UsageError("\(quoted(text)) has no IPv4 address for a host: write four numbers from 0 to 255")
        }
        self = .name(name)
    }

    /// As it stands in a URL: IPv6 in brackets.
    var description: String {
        switch self {
        case .name(let name): name
        case .v4(let address): address.description
        case .v6(let address): "[\(address)]"
        }
    }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_": true
        default: false
        }
    }
}
