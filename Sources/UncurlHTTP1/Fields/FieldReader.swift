/// Reads the value of a field by the words that RFC 9110 §5.6 shares among all fields: blanks, tokens, quoted strings.
/// What is between them is each field's own.
package struct FieldReader {
    /// The octets of the value.
    package let octets: [UInt8]
    /// Where the next word begins.
    package var position = 0

    package init(_ value: some Sequence<UInt8>) { octets = Array(value) }

    package var isAtEnd: Bool { position == octets.count }
    /// The next octet; nil at the end.
    package var next: UInt8? { position < octets.count ? octets[position] : nil }

    /// Takes the next octet if it is this one.
    package mutating func take(_ octet: UInt8) -> Bool {
        guard next == octet else { return false }
        position += 1
        return true
    }

    /// Takes all octets up to the first that does not belong to them.
    @discardableResult
    package mutating func take(while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while position < octets.count, belongs(octets[position]) { position += 1 }
        return octets[start..<position]
    }

    /// OWS = *( SP / HTAB ) (§5.6.3)
    package mutating func skipBlanks() { take(while: \.isBlankOctet) }

    /// token = 1*tchar (§5.6.2); nil where there is none.
    package mutating func token() -> ArraySlice<UInt8>? {
        let word = take(while: \.isTokenOctet)
        return word.isEmpty ? nil : word
    }

    /// quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE (§5.6.4), without its quotation marks and backslashes.
    /// Nil where none begins. One that does not end has all the rest, and `isWhole` is false.
    package mutating func quotedString() -> (text: [UInt8], isWhole: Bool)? {
        guard take(ASCII.quote) else { return nil }
        var text: [UInt8] = []
        while let octet = next {
            position += 1
            if octet == ASCII.quote { return (text, true) }
            guard octet == ASCII.backslash else {
                text.append(octet)
                continue
            }
            guard let escaped = next else { return (text + [octet], false) }
            position += 1
            text.append(escaped)
        }
        return (text, false)
    }

    /// The members of a list (§5.6.1) without the blanks around them and without empty ones. A comma in a quoted string
    /// separates nothing.
    package static func members(of value: String) -> [Substring] {
        var value = value
        value.makeContiguousUTF8()
        var members: [Substring] = []
        var position = 0
        let octets = value.utf8
        while let range = octets.span.nextMember(&position, octets.count) {
            let start = octets.index(octets.startIndex, offsetBy: range.lowerBound)
            members.append(value[start..<octets.index(start, offsetBy: range.count)])
        }
        return members
    }
}

extension BidirectionalCollection where Element == UInt8 {
    /// The octets without the blanks at both ends.
    package var withoutBlanks: SubSequence {
        let start = drop(while: \.isBlankOctet)
        return start[..<(start.lastIndex { !$0.isBlankOctet }.map { start.index(after: $0) } ?? start.startIndex)]
    }
}
