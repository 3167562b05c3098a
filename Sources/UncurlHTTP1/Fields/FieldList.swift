/// Members of a list field (RFC 9110 §5.6.1): separated by ",", blanks around them dropped, empty ones skipped, commas
/// inside a quoted-string belonging to it (§5.6.4).
extension Span<UInt8> {
    /// The next member from `position` on, which is moved behind it. nil at the end of the list.
    func nextMember(_ position: inout Int, _ end: Int) -> Range<Int>? {
        while position < end {
            let start = position
            var isQuoted = false
            while position < end {
                let octet = byte(position)
                if octet == ASCII.quote {
                    isQuoted.toggle()
                } else if octet == ASCII.backslash, isQuoted {
                    // quoted-pair; at the end of the value there is nothing left to quote.
                    position = Swift.min(position + 1, end - 1)
                } else if octet == ASCII.comma, !isQuoted {
                    break
                }
                position += 1
            }
            let member = trimmedRange(self, start..<position)
            if position < end { position += 1 }
            if !member.isEmpty { return member }
        }
        return nil
    }
}

extension HTTPFields {
    /// Whether a list field, over all its lines, has this member, letters of either case being equal. No allocation.
    public func hasToken(_ known: KnownField, _ token: StaticString) -> Bool {
        guard table.seen & known.bit != 0 else { return false }
        let bytes = block.span
        for index in 0..<count where table[index].isKnown(known) {
            let value = table[index].value
            var position = value.lowerBound
            while let member = bytes.nextMember(&position, value.upperBound) {
                if equalIgnoringCase(bytes, member, token) { return true }
            }
        }
        return false
    }

    /// The members of a list field over all its lines, in their order.
    public func listMembers(of name: String) -> [String] {
        var members: [String] = []
        for index in 0..<count where matches(index, name) {
            let value = table[index].value
            var position = value.lowerBound
            while let member = block.span.nextMember(&position, value.upperBound) {
                members.append(String(shown: block.span.extracting(member)))
            }
        }
        return members
    }
}

/// Whether the octets of a range spell `text`, given in lower case.
@inline(__always)
func equalIgnoringCase(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<range.count {
        guard ASCII.lowercased(bytes.byte(range.lowerBound &+ index)) == (unsafe text.utf8Start[index]) else {
            return false
        }
    }
    return true
}

/// The same for a text of letters and "-" and the whole value of a field, in words of eight octets: bit 5 alone tells
/// no other octet of a value from those, for a value holds no CR, which would pass for "-".
@inline(__always)
func isValue(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    // A value has its name before it: eight octets end with it.
    guard range.count == length, range.upperBound >= 8, range.upperBound <= bytes.count else { return false }
    let fold: UInt64 = 0x2020_2020_2020_2020
    let last = bytes.word(range.upperBound &- 8) | fold
    if length < 8 { return last &>> UInt64((8 &- length) &* 8) == letters(text) }
    return last == word(of: text, at: length &- 8) && bytes.word(range.lowerBound) | fold == word(of: text, at: 0)
}

/// The range without the blanks at its ends.
func trimmedRange(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    let start = bytes.endOfBlanks(range.lowerBound, range.upperBound)
    return start..<bytes.trimmedEnd(start, range.upperBound)
}
