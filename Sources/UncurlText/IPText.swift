internal import CUncurlLinux

// The texts of IP addresses, for the rooms that dial them and for those that only compare them.

/// Reads exactly four decimal parts without leading zeros; the first part is the most significant. `127.1`,
/// `0x7f.1` and `010.0.0.1` mean different hosts to different programs, so they are no addresses here (RFC 3986
/// §3.2.2, §7.4).
package func ipv4Bits(_ text: String) -> UInt32? {
    guard let first = text.utf8.first, (48...57).contains(first) else { return nil }
    var bits: UInt32 = 0
    var parts = 0
    for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
        guard (1...3).contains(part.count), part.allSatisfy({ (48...57).contains($0) }) else { return nil }
        guard part.count == 1 || part.first != 48 else { return nil }
        let value = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 48) }
        guard value <= 255 else { return nil }
        bits = bits << 8 | value
        parts += 1
    }
    return parts == 4 ? bits : nil
}

/// The four decimal parts.
package func ipText(v4 bits: UInt32) -> String {
    "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
}

/// Reads the text of RFC 4291 §2.2, with an optional `%interface` or `%index` (RFC 4007 §11): the halves, and the
/// interface's index, which is 0 without one.
package func ipv6Parts(_ text: String) -> (high: UInt64, low: UInt64, scope: UInt32)? {
    // C would read `::1` from "::1\0.evil.test".
    guard !text.utf8.contains(0) else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "%"), maxSplits: 1, omittingEmptySubsequences: false)
        .map { String(Substring($0)) }
    var form = in6_addr()
    guard unsafe inet_pton(AF_INET6, parts[0], &form) == 1 else { return nil }
    let (high, low) = unsafe withUnsafeBytes(of: form) { bytes in
        unsafe (
            UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }
    guard parts.count == 2 else { return (high, low, 0) }
    let isNumber = parts[1].utf8.allSatisfy { (48...57).contains($0) }
    let scope = unsafe isNumber ? UInt32(parts[1]) ?? 0 : if_nametoindex(parts[1])
    return scope == 0 ? nil : (high, low, scope)
}

/// The short form (RFC 5952), with the scope behind it unless that is 0.
package func ipText(v6 high: UInt64, _ low: UInt64, scope: UInt32) -> String {
    var form = in6_addr()
    unsafe withUnsafeMutableBytes(of: &form) { bytes in
        unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard unsafe inet_ntop(AF_INET6, &form, &text, socklen_t(text.count)) != nil else { return "?" }
    let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return scope == 0 ? address : "\(address)%\(scope)"
}

/// Whether the last label is a number as inet_aton reads one: decimal or octal digits, or `0x` and hex. Such a name
/// can only be meant as an address.
///
/// - Parameter name: in lower case, without a trailing dot.
package func endsInNumber(_ name: Substring) -> Bool {
    let start = name.utf8.lastIndex(of: UInt8(ascii: ".")).map { name.utf8.index(after: $0) }
    let last = name.utf8[(start ?? name.utf8.startIndex)...]
    guard let first = last.first, (48...57).contains(first) else { return false }
    if last.starts(with: "0x".utf8) {
        return last.dropFirst(2).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
    return last.allSatisfy { (48...57).contains($0) }
}
