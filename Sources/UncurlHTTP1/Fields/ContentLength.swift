/// Content-Length = 1*DIGIT (RFC 9110 §8.6), below 2^63, so that no sum of it with a count we hold can overflow.
enum ContentLength {
    /// The number those octets spell. Leading zeros are legal; signs, blanks inside and other digits are not.
    @inline(__always)
    static func parse(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var value: UInt64 = 0
        guard !range.isEmpty else { return nil }
        for position in range {
            let digit = bytes.byte(position) &- ASCII.zero
            guard digit < 10, value < UInt64(Int64.max) / 10 + 1 else { return nil }
            value = value &* 10 &+ UInt64(digit)
        }
        return value <= UInt64(Int64.max) ? value : nil
    }

    /// The one value of all Content-Length lines and list members, which RFC 9112 §6.3 lets a recipient merge if equal.
    @inline(__always)
    static func merged(_ fields: inout HTTPFields) throws(HTTP1Error) -> UInt64 {
        if let only = fields.table.first(.contentLength), fields.table.isOnly(.contentLength),
            let length = parse(fields.block.span, only.value)
        {
            return length
        }
        return try mergedList(fields)
    }

    @inline(never)
    private static func mergedList(_ fields: HTTPFields) throws(HTTP1Error) -> UInt64 {
        let block = fields.block
        var merged: UInt64?
        for index in 0..<fields.count where fields.table[index].isKnown(.contentLength) {
            let range = fields.table[index].value
            let length: UInt64
            if let whole = parse(block.span, range) {
                length = whole
            } else {
                length = try member(block, range)
            }
            guard merged == nil || merged == length else { throw HTTP1Error(.differingContentLengths, offset: 0) }
            merged = length
        }
        guard let merged else { throw HTTP1Error(.invalidContentLength, offset: 0) }
        return merged
    }

    /// The one value of a list. Empty members are refused: a number is no list, the merging is an exception.
    @inline(never)
    private static func member(_ block: [UInt8], _ range: Range<Int>) throws(HTTP1Error) -> UInt64 {
        let bytes = block.span
        var merged: UInt64?
        var start = range.lowerBound
        while start <= range.upperBound {
            var end = start
            while end < range.upperBound, bytes.byte(end) != ASCII.comma { end += 1 }
            let trimmed = trimmedRange(bytes, start..<end)
            guard let length = parse(bytes, trimmed) else { throw HTTP1Error(.invalidContentLength, offset: 0) }
            guard merged == nil || merged == length else { throw HTTP1Error(.differingContentLengths, offset: 0) }
            merged = length
            start = end + 1
        }
        guard let merged else { throw HTTP1Error(.invalidContentLength, offset: 0) }
        return merged
    }

    /// The value of the only line; a server takes no other.
    static func single(_ fields: inout HTTPFields) throws(HTTP1Error) -> UInt64 {
        guard fields.table.isOnly(.contentLength) else { throw HTTP1Error(.repeatedContentLength, offset: 0) }
        guard let only = fields.table.first(.contentLength), let length = parse(fields.block.span, only.value) else {
            throw HTTP1Error(.invalidContentLength, offset: 0)
        }
        return length
    }
}

/// The range without the blanks at its ends.
func trimmedRange(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    let start = bytes.endOfBlanks(range.lowerBound, range.upperBound)
    var end = range.upperBound
    while end > start, ASCII.isBlank(bytes.byte(end - 1)) { end -= 1 }
    return start..<end
}
