internal import Foundation
internal import TLS

/// JSON with its checksum, for files that people may look into:
///
///     {"sha256":"…","content":…}
///
/// Just so, octet for octet: the checksum is that of the content's octets, and a file that was edited by hand is a damaged
/// one. For what can go wrong with a file, see ``StoreSeal``.
enum SealedJSON {
    private static let start = Array(#"{"sha256":""#.utf8)
    private static let middle = Array(#"","content":"#.utf8)
    private static let end = Array("}".utf8)
    private static let checksumLength = 64

    /// Nil if the system's OpenSSL has no SHA-256.
    static func closed(_ content: [UInt8]) -> [UInt8]? {
        checksum(content[...]).map { start + $0 + middle + content + end }
    }

    /// Nil for what is damaged, cut short, or was not written by ``closed(_:)``.
    static func content(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var rest = bytes[...]
        guard rest.take(start) else { return nil }
        let stated = rest.prefix(checksumLength)
        rest = rest.dropFirst(checksumLength)
        guard rest.take(middle), rest.reversed().starts(with: end.reversed()) else { return nil }
        let content = rest.dropLast(end.count)
        return checksum(content).map { $0[...] } == stated ? content : nil
    }

    private static func checksum(_ content: ArraySlice<UInt8>) -> [UInt8]? {
        MessageDigest.sha256.hash(Array(content).span)?.flatMap { octet in
            [octet >> 4, octet & 15].map { $0 < 10 ? UInt8(ascii: "0") + $0 : UInt8(ascii: "a") - 10 + $0 }
        }
    }
}

extension ArraySlice<UInt8> {
    /// False, and nothing changed, unless it begins so.
    fileprivate mutating func take(_ prefix: [UInt8]) -> Bool {
        guard starts(with: prefix) else { return false }
        self = dropFirst(prefix.count)
        return true
    }
}
