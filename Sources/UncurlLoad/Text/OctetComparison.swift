/// Texts octet by octet. The standard library compares and divides texts by characters: a character of many combining
/// marks takes it time that grows with the square of their number.
extension StringProtocol where UTF8View: BidirectionalCollection {
    /// Whether each octet is ASCII. Two such texts are compared octet by octet.
    package var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// Whether both have the same octets.
    package func isSame(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether the text begins with these octets.
    package func begins(with start: String) -> Bool { utf8.starts(with: start.utf8) }

    /// Whether the text ends with these octets.
    package func ends(with end: String) -> Bool { utf8.suffix(end.utf8.count).elementsEqual(end.utf8) }

    /// The parts between marks of one octet, at most `most` of them.
    package func parts(at mark: Unicode.Scalar, most: Int = .max, keepingEmpty: Bool = true) -> [Substring] {
        Substring(self).utf8
            .split(separator: UInt8(ascii: mark), maxSplits: most - 1, omittingEmptySubsequences: !keepingEmpty)
            .map { Substring($0) }
    }

    /// The text before the first of one or two octets; all of it if it has none.
    package func prefix(before mark: Unicode.Scalar, _ other: Unicode.Scalar? = nil) -> Substring {
        let (mark, other) = (UInt8(ascii: mark), UInt8(ascii: other ?? mark))
        return Substring(Substring(self).utf8.prefix { $0 != mark && $0 != other })
    }
}
