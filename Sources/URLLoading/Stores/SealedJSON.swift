/// JSON with its checksum, for files that people may look into:
///
///     {"crc32":"…","content":…}
///
/// The layout is exact to the octet: the checksum is that of the content's octets, so a file that was edited by hand
/// counts as damaged. ``StoreSeal`` says what can damage a file. The checksum does not use OpenSSL: cookies are written
/// when the process exits, and OpenSSL may have cleaned up by then.
enum SealedJSON {
    private static let start = Array(#"{"crc32":""#.utf8)
    private static let middle = Array(#"","content":"#.utf8)
    private static let end = Array("}".utf8)
    private static let checksumLength = 8

    static func closed(_ content: [UInt8]) -> [UInt8] {
        start + checksum(content[...]) + middle + content + end
    }

    /// Nil for a file that is damaged, cut short, or was not written by ``closed(_:)``.
    static func content(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var rest = bytes[...]
        guard rest.take(start) else { return nil }
        let stated = rest.prefix(checksumLength)
        rest = rest.dropFirst(checksumLength)
        guard rest.take(middle), rest.reversed().starts(with: end.reversed()) else { return nil }
        let content = rest.dropLast(end.count)
        return checksum(content) == Array(stated) ? content : nil
    }

    /// Returns the checksum in eight hexadecimal digits.
    private static func checksum(_ content: ArraySlice<UInt8>) -> [UInt8] {
        var sum = ContentSum()
        sum.add(content.span)
        return stride(from: 28, through: 0, by: -4).map { shift in
            let digit = UInt8(sum.checksum >> UInt32(shift) & 15)
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
        }
    }
}

extension ArraySlice<UInt8> {
    /// Removes the prefix. Returns false, and changes nothing, if there is another one.
    fileprivate mutating func take(_ prefix: [UInt8]) -> Bool {
        guard starts(with: prefix) else { return false }
        self = dropFirst(prefix.count)
        return true
    }
}
