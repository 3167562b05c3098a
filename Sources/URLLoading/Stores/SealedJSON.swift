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

    static func closed(_ content: [UInt8]) -> [UInt8] {
        start + ContentSum.digits(of: content.span) + middle + content + end
    }

    /// Nil for a file that is damaged, cut short, or was not written by ``closed(_:)``.
    static func content(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var rest = bytes[...]
        guard rest.take(start) else { return nil }
        let stated = rest.prefix(ContentSum.digitCount)
        rest = rest.dropFirst(ContentSum.digitCount)
        guard rest.take(middle), rest.reversed().starts(with: end.reversed()) else { return nil }
        let content = rest.dropLast(end.count)
        return ContentSum.digits(of: content.span) == Array(stated) ? content : nil
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
