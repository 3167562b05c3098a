internal import Foundation
internal import HTTP1

/// Where a Location field leads (RFC 9110 §10.2.2).
enum RedirectTarget {
    /// Nil if it leads nowhere a session goes: no Location, an empty one, two that differ, or one that names no host to be asked
    /// by http or https. The response is then what it is.
    static func resolve(_ fields: HTTPFields, against url: URL) -> URL? {
        guard let location = location(in: fields) else { return nil }
        let base = URIReference(Array(url.absoluteString.utf8))
        var target = URIReference(location).resolved(against: base)
        guard let scheme = target.scheme.map({ String(decoding: $0, as: UTF8.self).lowercased() }),
            scheme == "http" || scheme == "https", var authority = target.authority
        else { return nil }
        // RFC 9110 §4.2.4: what stands before an "@" mostly serves to make a URL look like another. Not looked at.
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        guard !authority.isEmpty, authority.first != UInt8(ascii: ":") else { return nil }
        target.authority = authority
        target.path = encoded(target.path, isPath: true)
        target.query = target.query.map { encoded($0, isPath: false) }
        // The fragment of where we were, unless Location brings one.
        target.fragment = (target.fragment ?? base.fragment).map { encoded($0, isPath: false) }
        guard let text = String(validating: target.bytes, as: UTF8.self), let found = URL(string: text),
            found.host?.isEmpty == false
        else { return nil }
        return found
    }

    private static func location(in fields: HTTPFields) -> [UInt8]? {
        guard let range = fields.first(.location) else { return nil }
        let first = fields.block[range]
        guard !first.isEmpty else { return nil }
        for index in 0..<fields.count where fields.known(at: index) == .location {
            guard fields.block[fields.valueRange(at: index)] == first else { return nil }
        }
        // Ends of lines cannot come from a server; a response that somebody made up may have them.
        guard !first.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else { return nil }
        return Array(first)
    }

    /// Encodes what RFC 3986 §3.3 and §3.4 do not let stand there: blanks, octets that are no ASCII, brackets, quotes, and
    /// percent signs without two digits. What is encoded already stays as it is.
    private static func encoded(_ part: ArraySlice<UInt8>, isPath: Bool) -> ArraySlice<UInt8> {
        guard !part.allSatisfy({ isAllowed($0, isPath: isPath) }) else { return part }
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for (index, byte) in zip(part.indices, part) {
            let isTriplet =
                byte == UInt8(ascii: "%") && index + 2 < part.endIndex && isHex(part[index + 1])
                && isHex(part[index + 2])
            if isTriplet || isAllowed(byte, isPath: isPath) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return result[...]
    }

    /// pchar and "/", and in queries and fragments "?". Not the percent sign, which takes a look at what follows.
    private static func isAllowed(_ byte: UInt8, isPath: Bool) -> Bool {
        if URIReference.isLetter(byte) || 0x30...0x39 ~= byte { return true }
        return "-._~!$&'()*+,;=:@/".utf8.contains(byte) || (!isPath && byte == UInt8(ascii: "?"))
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || (byte | 0x20) &- 0x61 < 6
    }
}
