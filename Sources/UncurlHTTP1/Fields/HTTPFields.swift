/// A field section: header fields or trailers, in their order, octets as received.
///
/// One block of octets and a table of ranges into it. Strings are made when asked for: of UTF-8, and of ISO 8859-1
/// where a value is no UTF-8. Such a string is to be shown, not sent: `block` with `nameRange(at:)` and
/// `valueRange(at:)` gives the octets themselves. Copies share storage until one of them changes. Names compare without
/// case (RFC 9110 §5.1). Values carry no blanks at either end.
public struct HTTPFields: Sendable {
    /// The octets the ranges point into. Others may lie between and behind them: a start line, removed fields, what an
    /// earlier message left.
    public private(set) var block: [UInt8] = []
    /// How much of the block is in use. The array itself never shrinks: cutting and growing it again costs more than
    /// copying a head does.
    private(set) var used = 0
    var table = FieldTable()

    /// No fields.
    public init() {}

    /// Fields, each line counted.
    public var count: Int { table.count }
    /// Whether there are no fields.
    public var isEmpty: Bool { table.count == 0 }

    /// The octets of a field's name, as a range of `block`.
    public func nameRange(at index: Int) -> Range<Int> { table[index].name }
    /// The octets of a field's value, as a range of `block`.
    public func valueRange(at index: Int) -> Range<Int> { table[index].value }
    /// Which of the known fields it is; no comparison of names.
    public func known(at index: Int) -> KnownField { table[index].known }

    /// A field's name, in the case it was sent in.
    public func name(at index: Int) -> String { string(table[index].name) }
    /// A field's value.
    public func value(at index: Int) -> String { string(table[index].value) }

    /// The value of the first field of that name.
    public subscript(name: String) -> String? {
        firstIndex(of: name).map { value(at: $0) }
    }

    /// Whether there is a field of that name.
    public func contains(_ name: String) -> Bool { firstIndex(of: name) != nil }

    /// The values of all fields of that name, in their order.
    public func values(of name: String) -> [String] {
        (0..<count).filter { matches($0, name) }.map { value(at: $0) }
    }

    /// The octets of all values of that name, in their order: values may be no UTF-8 (RFC 9110 §5.5).
    package func octets(of name: String) -> [ArraySlice<UInt8>] {
        (0..<count).filter { matches($0, name) }.map { block[valueRange(at: $0)] }
    }

    /// All values of that name joined with ", " (RFC 9110 §5.3). nil without such a field, and always for Set-Cookie,
    /// the one field that may not be joined: its dates hold commas.
    public func joined(_ name: String) -> String? {
        let values = values(of: name)
        guard !values.isEmpty, KnownField(name: name) != .setCookie else { return nil }
        return values.joined(separator: ", ")
    }

    /// Calls `body` with each field, in their order.
    public func forEach(_ body: (_ name: String, _ value: String) -> Void) {
        for index in 0..<count { body(name(at: index), value(at: index)) }
    }

    /// The same fields in storage of their own, no larger than they need: for keeping what a parser has filled. Its
    /// scratch is as large as the largest head so far, and a parser that finds it shared makes another as large.
    public func trimmed() -> HTTPFields {
        var copy = HTTPFields()
        copy.block = Array(block[..<used])
        copy.used = used
        copy.table = table.trimmed()
        return copy
    }

    /// The octets of the first value of a known field, as a range of `block`. No allocation.
    public func first(_ known: KnownField) -> Range<Int>? { table.first(known)?.value }

    /// The octets of a known field's value. Nil without one, and if its lines differ.
    package func agreed(_ known: KnownField) -> ArraySlice<UInt8>? {
        guard let first = first(known).map({ block[$0] }) else { return nil }
        return (0..<count).allSatisfy { self.known(at: $0) != known || block[valueRange(at: $0)] == first }
            ? first : nil
    }

    /// Whether there is such a field. No comparison of names.
    public func contains(_ known: KnownField) -> Bool { table.first(known) != nil }

    /// Appends a field after checking it: the name must be a token, the value free of CR, LF, NUL and other controls.
    /// Blanks around the value are dropped. On an error nothing changes.
    public mutating func append(_ name: String, _ value: String) throws(HTTP1Error) {
        try append(utf8: Array(name.utf8), Array(value.utf8))
    }

    /// The same for octets, for values that are no UTF-8.
    public mutating func append(name: Span<UInt8>, value: Span<UInt8>) throws(HTTP1Error) {
        try append(utf8: copy(name), copy(value))
    }

    /// The same for a value that is no UTF-8.
    package mutating func append(_ name: String, octets value: [UInt8]) throws(HTTP1Error) {
        try append(utf8: Array(name.utf8), value)
    }

    /// Appends a field of another section, with the same octets.
    package mutating func append(_ other: HTTPFields, at index: Int) throws(HTTP1Error) {
        try append(
            utf8: Array(other.block[other.nameRange(at: index)]),
            Array(other.block[other.valueRange(at: index)])
        )
    }

    /// Gives the first field of that name this value and removes the others; appends if there is none.
    public mutating func replace(_ name: String, _ value: String) throws(HTTP1Error) {
        try replace(name, octets: Array(value.utf8))
    }

    /// The same for a value that is no UTF-8.
    package mutating func replace(_ name: String, octets value: [UInt8]) throws(HTTP1Error) {
        try append(name, octets: value)
        guard let first = firstIndex(of: name) else { return }
        table[first] = table[count - 1]
        let wanted = Array(name.utf8)
        let block = block
        table.remove { index, entry in index > first && equalIgnoringCase(block.span, entry.name, wanted) }
    }

    /// Gives the field at this place this name and this value. Its cost does not grow with the number of fields.
    package mutating func replace(at index: Int, by name: String, _ value: String) throws(HTTP1Error) {
        try append(name, value)
        table.moveLast(to: index)
    }

    /// Removes all fields of that name.
    public mutating func remove(name: String) {
        let wanted = Array(name.utf8)
        let block = block
        table.remove { _, entry in equalIgnoringCase(block.span, entry.name, wanted) }
    }

    /// Removes each field for whose index `isUnwanted` returns true. The indices are those before the call.
    package mutating func removeAll(where isUnwanted: (_ index: Int) -> Bool) {
        table.remove { index, _ in isUnwanted(index) }
    }

    /// Empties it. With `keepingCapacity`, storage that is not shared stays for the next use and nothing is allocated.
    public mutating func removeAll(keepingCapacity: Bool = false) {
        if keepingCapacity {
            used = 0
            table.removeAll()
        } else {
            self = HTTPFields()
        }
    }

    private mutating func append(utf8 name: [UInt8], _ value: [UInt8]) throws(HTTP1Error) {
        try name.span.checkName()
        try value.span.checkValue()
        let trimmed = trimmedRange(value.span, 0..<value.count)
        // A block of 4 GiB of our own making: nothing a peer can reach, but nothing that may trap either.
        guard name.count <= UInt16.max, used + name.count + value.count < UInt32.max else {
            throw HTTP1Error(.limitExceeded(.headBytes), offset: UInt64(used), side: .local)
        }
        let nameStart = used
        appendToBlock(name.span, 0..<name.count)
        let valueStart = used
        appendToBlock(value.span, trimmed)
        table.append(
            FieldEntry(
                nameStart: nameStart,
                nameLength: name.count,
                valueStart: valueStart,
                valueEnd: used,
                known: KnownField.identify(block.span, nameStart, name.count)
            )
        )
    }

    /// Replaces the block by the first octets of `input`, which the table's ranges were counted in.
    @inline(__always)
    mutating func adopt(_ input: Span<UInt8>, _ length: Int) {
        used = 0
        appendToBlock(input, 0..<length)
    }

    @inline(__always)
    mutating func appendToBlock(_ input: Span<UInt8>, _ range: Range<Int>) {
        if block.count &- used < range.count { growBlock(range.count) }
        let start = used
        used &+= range.count
        // Both pointers stay inside their closures; both ranges are checked before. Covered by every fuzz target.
        unsafe input.extracting(range).withUnsafeBytes { source in
            unsafe block.withUnsafeMutableBytes { target in
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: target[start..<(start &+ source.count)])
                unsafe room.copyMemory(from: source)
            }
        }
    }

    /// Twice the size at least, so that a head that comes octet by octet is copied a bounded number of times.
    @inline(never)
    private mutating func growBlock(_ length: Int) {
        let size = max(1024, block.count &* 2, used &+ length)
        block.append(contentsOf: repeatElement(0, count: size &- block.count))
    }

    /// Takes octets off the end.
    mutating func shortenBlock(to length: Int) {
        used = min(used, length)
    }

    /// The memory of the block and of the table.
    var storageBytes: Int { block.count &+ table.slots.count &* MemoryLayout<FieldEntry>.stride }

    /// Exchanges the block, for a caller that reads it while it changes the table.
    @inline(__always)
    mutating func swapBlock(_ other: inout [UInt8]) {
        swap(&block, &other)
    }

    /// Puts one space in place of each fold, which is a line's end with all blanks around it (RFC 9112 §5.2).
    mutating func unfold() {
        guard table.hasFolds else { return }
        for index in 0..<count where table[index].isFolded {
            let value = table[index].value
            var end = value.lowerBound
            var isInFold = false
            for position in value {
                let octet = block[position]
                if octet < ASCII.space, octet != ASCII.tab {
                    while end > value.lowerBound, ASCII.isBlank(block[end - 1]) { end -= 1 }
                    isInFold = true
                } else if !isInFold || !ASCII.isBlank(octet) {
                    if isInFold {
                        block[end] = ASCII.space
                        end += 1
                    }
                    isInFold = false
                    block[end] = octet
                    end += 1
                }
            }
            table[index].unfold(toLength: end - value.lowerBound)
        }
    }

    private func string(_ range: Range<Int>) -> String { String(shown: block.span.extracting(range)) }

    private func firstIndex(of name: String) -> Int? {
        (0..<count).first { matches($0, name) }
    }

    func matches(_ index: Int, _ name: String) -> Bool {
        equalIgnoringCase(block.span, table[index].name, name.utf8)
    }
}

extension HTTPFields: Equatable {
    /// The same names (without case) with the same values in the same order.
    public static func == (left: HTTPFields, right: HTTPFields) -> Bool {
        guard left.count == right.count else { return false }
        return (0..<left.count).allSatisfy { index in
            left.block[left.valueRange(at: index)] == right.block[right.valueRange(at: index)]
                && equalIgnoringCase(
                    left.block.span,
                    left.nameRange(at: index),
                    Array(right.block[right.nameRange(at: index)])
                )
        }
    }
}

extension HTTPFields {
    /// The same octets for names and values in the same order: what is sent of one is sent of the other. Between
    /// unchanged copies of one value it looks at the ranges alone.
    public func isIdentical(to other: HTTPFields) -> Bool {
        guard count == other.count else { return false }
        let isOneBlock = block == other.block
        return (0..<count).allSatisfy { index in
            let (name, value) = (nameRange(at: index), valueRange(at: index))
            let (otherName, otherValue) = (other.nameRange(at: index), other.valueRange(at: index))
            if isOneBlock, name == otherName, value == otherValue { return true }
            return block[name] == other.block[otherName] && block[value] == other.block[otherValue]
        }
    }
}

extension HTTPFields: CustomStringConvertible {
    /// Names only: values may be secrets.
    public var description: String {
        "HTTPFields(" + (0..<count).map { name(at: $0) }.joined(separator: ", ") + ")"
    }
}

extension KnownField {
    /// The known field of that name; `.other` for the rest.
    public init(name: String) {
        let octets = Array(name.utf8)
        // Folding by bit 5 tells names apart only among token octets.
        guard octets.span.endOfToken(0, octets.count) == octets.count else {
            self = .other
            return
        }
        self = KnownField.identify(octets.span, 0, octets.count)
    }
}

/// Whether the octets of a range are `name`, letters of either case being equal.
func equalIgnoringCase(_ bytes: Span<UInt8>, _ range: Range<Int>, _ name: some Collection<UInt8>) -> Bool {
    range.count == name.count
        && zip(range, name).allSatisfy { ASCII.lowercased(bytes.byte($0)) == ASCII.lowercased($1) }
}

extension String {
    /// The octets of a field's value as text, to be shown: of UTF-8, and of ISO 8859-1 where they are no UTF-8, which
    /// fields had before (RFC 9110 §5.5). Two different values may give one text, so that no text of this kind is sent.
    package init(shown octets: Span<UInt8>) {
        do {
            self = String(copying: try UTF8Span(validating: octets))
        } catch {
            self = ""
            for index in octets.indices { unicodeScalars.append(Unicode.Scalar(octets[index])) }
        }
    }
}
