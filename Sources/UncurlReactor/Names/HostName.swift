/// A host name that can be looked up, in the one spelling that equal names share.
public struct HostName: Hashable, Sendable {
    /// The name in lower case. A trailing dot is kept, since it tells the look-up not to use the search list.
    let text: String

    init(_ host: String) throws(ResolveError) {
        let text = String(decoding: host.utf8.map(HostName.lowercased), as: UTF8.self)
        let bare = HostName.withoutTrailingDot(text)
        guard !bare.isEmpty else { throw .emptyName }
        guard bare.utf8.count <= 253 else { throw .nameTooLong }
        guard !bare.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else { throw .invalidName }
        guard !HostName.endsInNumber(bare) else { throw .invalidName }
        self.text = text
    }

    /// `example.com` for `example.com.`: the key of overrides and memories.
    var bare: String { HostName.withoutTrailingDot(text) }

    /// Whether the name is `localhost` or below it (RFC 6761 §6.3): it means this machine, and no server is ever asked.
    var isLocalhost: Bool { bare == "localhost" || bare.hasSuffix(".localhost") }

    /// Whether the name is `onion` or below it: only Tor knows such names, and name servers must not hear of them
    /// (RFC 7686 §2).
    var isOnion: Bool { bare == "onion" || bare.hasSuffix(".onion") }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 0x20 : byte }

    private static func withoutTrailingDot(_ text: String) -> String {
        text.utf8.last == UInt8(ascii: ".") ? String(Substring(text.utf8.dropLast())) : text
    }

    /// Whether the last label is a number as inet_aton reads one: decimal or octal digits, or `0x` and hex. Such a name
    /// can only be meant as an address.
    ///
    /// - Parameter name: in lower case, without a trailing dot.
    public static func endsInNumber(_ name: some StringProtocol) -> Bool {
        guard let last = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last,
            let first = last.first, (48...57).contains(first)
        else { return false }
        if last.starts(with: "0x".utf8) {
            return last.dropFirst(2).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        }
        return last.allSatisfy { (48...57).contains($0) }
    }
}
