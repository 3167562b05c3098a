extension StringProtocol where UTF8View: BidirectionalCollection {
    /// The text without blanks and tabs at both ends.
    package var trimmed: String {
        let octets = utf8
        guard let first = octets.firstIndex(where: { !Self.isBlank($0) }),
            let last = octets.lastIndex(where: { !Self.isBlank($0) })
        else { return "" }
        return String(self[first...last])
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t") }
}
