import UncurlText

/// A name and a value: a field, an argument, a cookie.
struct Pair: Equatable, Sendable {
    var name: String
    var value: String
}

extension String {
    /// Whether two names are equal apart from the case of ASCII letters (RFC 9110 §5.1).
    func equalsIgnoringCase(_ other: String) -> Bool {
        let (left, right) = (utf8, other.utf8)
        return left.count == right.count && zip(left, right).allSatisfy { folded($0) == folded($1) }
    }
}

private func folded(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

extension PercentCoding {
    /// Parses `a=1&b=2` in order; a name without `=` has an empty value.
    static func pairs(_ text: some StringProtocol) -> [Pair] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { part in
            let pieces = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = pieces.count > 1 ? decodeBytes(pieces[1], plusIsSpace: true) : []
            return Pair(
                name: String(decoding: decodeBytes(pieces[0], plusIsSpace: true), as: UTF8.self),
                value: String(decoding: value, as: UTF8.self)
            )
        }
    }
}
