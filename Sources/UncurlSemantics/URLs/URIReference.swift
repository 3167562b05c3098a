internal import UncurlHTTP1
import UncurlText

/// A URI reference in its five parts (RFC 3986 §3 and appendix B), and how to resolve it against a base (§5.2). It
/// consists of octets, not characters: servers do not always send valid text.
///
/// The rules for answers take URLs in this form, as they were written: an ``HTTPURL`` knows neither the user
/// information nor the fragment that a redirect may inherit, and refuses what a redirect may lead to.
public struct URIReference: Hashable, Sendable {
    /// The scheme, without its colon.
    public var scheme: ArraySlice<UInt8>?
    /// The authority, after two slashes: host and port, perhaps with user information before them.
    public var authority: ArraySlice<UInt8>?
    /// The path, which may be empty.
    public var path: ArraySlice<UInt8>
    /// The query, without its question mark.
    public var query: ArraySlice<UInt8>?
    /// The fragment, without its number sign.
    public var fragment: ArraySlice<UInt8>?

    /// Reads a reference. Any text is one: a fault in a part stays in that part.
    public init(_ text: [UInt8]) {
        var rest = text[...]
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[(hash + 1)...]
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        // §3.1: a letter, then letters, digits, "+", "-" and "."; a colon elsewhere belongs to the path.
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = rest[..<colon]
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            let start = rest.startIndex + 2
            let end = rest[start...].firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[start..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// Reads a text. Any text is a reference.
    public init(_ text: String) { self.init(Array(text.utf8)) }

    /// Returns the target (§5.2.2). The fragment is the reference's own.
    public func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil {
                target.authority = base.authority
                if path.isEmpty {
                    (target.path, target.query) = (base.path, query ?? base.query)
                    return target
                }
                if path.first != UInt8(ascii: "/") { target.path = base.merged(with: path) }
            }
        }
        target.path = Self.withoutDotSegments(target.path)
        return target
    }

    /// The reference's text, made of its parts (§5.3).
    public var bytes: [UInt8] {
        var result: [UInt8] = []
        if let scheme { result += scheme + [UInt8(ascii: ":")] }
        if let authority { result += Array("//".utf8) + authority }
        result += path
        if let query { result += [UInt8(ascii: "?")] + query }
        if let fragment { result += [UInt8(ascii: "#")] + fragment }
        return result
    }

    /// The same as a text, in which octets that are no UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the merged path (§5.2.3).
    private func merged(with reference: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if authority != nil, path.isEmpty { return ([UInt8(ascii: "/")] + reference)[...] }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return reference }
        return (path[...slash] + reference)[...]
    }

    /// Returns the path without dot segments (§5.2.4). A list of segments replaces the two buffers: it takes linear
    /// time, whatever a server sends.
    public static func withoutDotSegments(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isAbsolute = path.first == UInt8(ascii: "/")
        let segments = path.dropFirst(isAbsolute ? 1 : 0).split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        )
        var kept: [ArraySlice<UInt8>] = []
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if segment.elementsEqual("..".utf8) {
                _ = kept.popLast()
                if isLast { kept.append([]) }
            } else if segment.elementsEqual(".".utf8) {
                if isLast { kept.append([]) }
            } else {
                kept.append(segment)
            }
        }
        let joined = Array(kept.joined(separator: [UInt8(ascii: "/")]))
        return isAbsolute ? ([UInt8(ascii: "/")] + joined)[...] : joined[...]
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first.isASCIILetter else { return false }
        return bytes.allSatisfy { $0.isASCIILetter || 0x30...0x39 ~= $0 || "+-.".utf8.contains($0) }
    }

    /// The same reference with all octets percent-encoded that RFC 3986 §3.3 and §3.4 do not allow in path, query and
    /// fragment: blanks, octets that are not ASCII, brackets, quotes, and percent signs without two digits. What is
    /// already encoded stays as it is.
    public var percentEncoded: URIReference {
        var result = self
        result.path = Self.encoded(path, isPath: true)
        result.query = query.map { Self.encoded($0, isPath: false) }
        result.fragment = fragment.map { Self.encoded($0, isPath: false) }
        return result
    }

    private static func encoded(_ part: ArraySlice<UInt8>, isPath: Bool) -> ArraySlice<UInt8> {
        guard !part.allSatisfy({ isAllowed($0, isPath: isPath) }) else { return part }
        return percentMended(part) { isAllowed(part[$0], isPath: isPath) }[...]
    }

    /// Whether an octet is allowed: pchar and "/", and in queries and fragments "?". The percent sign depends on what
    /// follows it.
    private static func isAllowed(_ byte: UInt8, isPath: Bool) -> Bool {
        byte.isPathOrQueryOctet && !(isPath && byte == UInt8(ascii: "?"))
    }
}

/// The server that an absolute URL names.
extension URIReference {
    /// The origin; for ws and wss that of their handshake (RFC 6455 §3). Nil for other schemes than these, http and
    /// https, and where host or port are none that a request can be sent to.
    public var origin: Origin? {
        guard let scheme = handshakeScheme.flatMap({ Origin.Scheme(rawValue: $0) }), let (name, digits) = hostAndPort,
            let host = try? URLHost(String(decoding: name, as: UTF8.self))
        else { return nil }
        guard let digits, !digits.isEmpty else { return Origin(scheme: scheme, host: host) }
        return UInt16(String(decoding: digits, as: UTF8.self)).map { Origin(scheme: scheme, host: host, port: $0) }
    }

    /// Whether the authority has the form of a server's: a host with no octets but those of RFC 3986 §3.2.2
    /// (unreserved, sub-delims, the percent sign, and the colons of an address), and a port that is a number.
    var namesServer: Bool {
        guard let (name, port) = hostAndPort else { return false }
        let isBracketed = name.first == UInt8(ascii: "[") && name.last == UInt8(ascii: "]")
        let host = isBracketed ? name.dropFirst().dropLast() : name
        guard !host.isEmpty,
            host.allSatisfy({ $0.isASCIILetter || $0 &- 0x30 < 10 || "-._~!$&'()*+,;=%:".utf8.contains($0) })
        else { return false }
        guard let port, !port.isEmpty else { return true }
        return Int(String(decoding: port, as: UTF8.self)) != nil
    }

    /// The authority without user information.
    var server: ArraySlice<UInt8>? {
        guard let authority, let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return authority }
        return authority[(at + 1)...]
    }

    /// The scheme in lower case; for ws and wss that of their handshake.
    package var handshakeScheme: String? {
        guard let name = scheme.map({ String(decoding: $0, as: UTF8.self).lowercased() }) else { return nil }
        return name == "ws" || name == "wss" ? "http" + name.dropFirst(2) : name
    }

    /// Host and port as they are written; the port is nil without a colon before it.
    private var hostAndPort: (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>?)? {
        guard let server else { return nil }
        // A colon within brackets belongs to an IPv6 address.
        let bracket = server.lastIndex(of: UInt8(ascii: "]")) ?? server.startIndex
        guard let colon = server[bracket...].lastIndex(of: UInt8(ascii: ":")) else { return (server, nil) }
        return (server[..<colon], server[(colon + 1)...])
    }

    /// The path without dot segments, which would lead out of a folder; encoded as it came. Never empty.
    var cleanPath: String { Self.cleanPath(path) }

    static func cleanPath(_ path: ArraySlice<UInt8>) -> String {
        let path = withoutDotSegments(path)
        return path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
    }
}
