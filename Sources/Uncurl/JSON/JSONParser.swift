internal import UncurlText

/// Reads one JSON text (RFC 8259) in UTF-8. The parser is strict: text outside the grammar is an error, with its
/// position.
///
/// Of several members with one name, the last one counts, as in other common parsers. A name with more than
/// ``MarkRun/limit`` combining marks in a row is an error. Integers keep all their digits.
struct JSONParser {
    /// The limit of nesting. The parser is recursive; 512 levels take a tenth of the smallest stack that a thread has
    /// here. Foundation's parser has the same limit.
    static let maximumDepth = 512

    private var index = 0

    static func value(of text: Span<UInt8>) throws(JSONFailure) -> JSONValue {
        var parser = JSONParser()
        parser.skipBlanks(text)
        let value = try parser.value(text, depth: 0)
        parser.skipBlanks(text)
        guard parser.index == text.count else { throw parser.failure(.trailingOctets) }
        return value
    }

    private func failure(_ reason: JSONFailure.Reason) -> JSONFailure { JSONFailure(reason: reason, offset: index) }

    private mutating func skipBlanks(_ text: Span<UInt8>) {
        while index < text.count {
            switch text[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private func peek(_ text: Span<UInt8>) throws(JSONFailure) -> UInt8 {
        guard index < text.count else { throw failure(.unexpectedEnd) }
        return text[index]
    }

    private mutating func take(_ octet: UInt8, _ text: Span<UInt8>) throws(JSONFailure) {
        let next = try peek(text)
        guard next == octet else { throw failure(.unexpected(octet: next)) }
        index += 1
    }

    /// value = false / null / true / object / array / number / string (§3)
    private mutating func value(_ text: Span<UInt8>, depth: Int) throws(JSONFailure) -> JSONValue {
        switch try peek(text) {
        case UInt8(ascii: "{"): return try object(text, depth: depth + 1)
        case UInt8(ascii: "["): return try array(text, depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string(text))
        case UInt8(ascii: "t"): return try word("true", .bool(true), text)
        case UInt8(ascii: "f"): return try word("false", .bool(false), text)
        case UInt8(ascii: "n"): return try word("null", .null, text)
        default: return .number(try number(text))
        }
    }

    private mutating func word(
        _ word: StaticString,
        _ value: JSONValue,
        _ text: Span<UInt8>
    ) throws(JSONFailure) -> JSONValue {
        for letter in word.description.utf8 { try take(letter, text) }
        return value
    }

    /// object = begin-object [ member *( value-separator member ) ] end-object (§4)
    private mutating func object(_ text: Span<UInt8>, depth: Int) throws(JSONFailure) -> JSONValue {
        try enter(depth)
        var members: [String: JSONValue] = [:]
        if try closes(UInt8(ascii: "}"), text) { return .object(members) }
        while true {
            skipBlanks(text)
            let start = index
            let name = try string(text)
            guard !MarkRun.isTooLong(in: name) else { throw JSONFailure.longName(at: start) }
            skipBlanks(text)
            try take(UInt8(ascii: ":"), text)
            skipBlanks(text)
            members[name] = try value(text, depth: depth)
            if try ends(UInt8(ascii: "}"), text) { return .object(members) }
        }
    }

    /// array = begin-array [ value *( value-separator value ) ] end-array (§5)
    private mutating func array(_ text: Span<UInt8>, depth: Int) throws(JSONFailure) -> JSONValue {
        try enter(depth)
        var elements: [JSONValue] = []
        if try closes(UInt8(ascii: "]"), text) { return .array(elements) }
        while true {
            skipBlanks(text)
            elements.append(try value(text, depth: depth))
            if try ends(UInt8(ascii: "]"), text) { return .array(elements) }
        }
    }

    /// Reads the opening bracket.
    private mutating func enter(_ depth: Int) throws(JSONFailure) {
        guard depth <= Self.maximumDepth else { throw failure(.tooDeep(limit: Self.maximumDepth)) }
        index += 1
    }

    /// Whether the closing bracket follows at once.
    private mutating func closes(_ bracket: UInt8, _ text: Span<UInt8>) throws(JSONFailure) -> Bool {
        skipBlanks(text)
        guard try peek(text) == bracket else { return false }
        index += 1
        return true
    }

    /// Reads what follows an element: true for the closing bracket, false for a comma.
    private mutating func ends(_ bracket: UInt8, _ text: Span<UInt8>) throws(JSONFailure) -> Bool {
        skipBlanks(text)
        let next = try peek(text)
        guard next == bracket || next == UInt8(ascii: ",") else { throw failure(.unexpected(octet: next)) }
        index += 1
        return next == bracket
    }

    /// number = [ minus ] int [ frac ] [ exp ] (§6)
    private mutating func number(_ text: Span<UInt8>) throws(JSONFailure) -> JSONNumber {
        let start = index
        let isNegative = text[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let first = try peek(text)
        guard Self.isDigit(first) else {
            throw failure(isNegative ? .invalidNumber : .unexpected(octet: first))
        }
        let digits = index
        skipDigits(text)
        guard first != UInt8(ascii: "0") || index == digits + 1 else { throw failure(.invalidNumber) }
        var isInteger = true
        if index < text.count, text[index] == UInt8(ascii: ".") {
            isInteger = false
            index += 1
            try takeDigits(text)
        }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            index += 1
            if index < text.count, text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") { index += 1 }
            try takeDigits(text)
        }
        if isInteger, let number = Self.integer(text, digits..<index, isNegative) { return number }
        let written = Self.ascii(text, start..<index)
        if isInteger { return .digits(written) }
        guard let number = Double(written), number.isFinite else { throw failure(.numberOutOfRange) }
        return .floating(number)
    }

    private static func isDigit(_ octet: UInt8) -> Bool { octet &- 0x30 < 10 }

    private mutating func skipDigits(_ text: Span<UInt8>) {
        while index < text.count, Self.isDigit(text[index]) { index += 1 }
    }

    private mutating func takeDigits(_ text: Span<UInt8>) throws(JSONFailure) {
        guard Self.isDigit(try peek(text)) else { throw failure(.invalidNumber) }
        skipDigits(text)
    }

    /// The integer; nil where it has more than 64 bits.
    private static func integer(_ text: Span<UInt8>, _ range: Range<Int>, _ isNegative: Bool) -> JSONNumber? {
        var magnitude: UInt64 = 0
        for index in range {
            let (tens, isTooMuch) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, isStillTooMuch) = tens.addingReportingOverflow(UInt64(text[index] &- 0x30))
            guard !isTooMuch, !isStillTooMuch else { return nil }
            magnitude = sum
        }
        guard isNegative else { return Int64(exactly: magnitude).map { .integer($0) } ?? .unsigned(magnitude) }
        guard magnitude <= 1 << 63 else { return nil }
        return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
    }

    private static func ascii(_ text: Span<UInt8>, _ range: Range<Int>) -> String {
        var octets: [UInt8] = []
        octets.reserveCapacity(range.count)
        for index in range { octets.append(text[index]) }
        return String(decoding: octets, as: UTF8.self)
    }

    /// string = quotation-mark *char quotation-mark (§7)
    private mutating func string(_ text: Span<UInt8>) throws(JSONFailure) -> String {
        try take(UInt8(ascii: "\""), text)
        let start = index
        while true {
            switch try peek(text) {
            case UInt8(ascii: "\""):
                let plain = try utf8(text, start..<index)
                index += 1
                return plain
            case UInt8(ascii: "\\"): return try escapedString(text, after: start..<index)
            case 0..<0x20: throw failure(.controlInString(text[index]))
            default: index += 1
            }
        }
    }

    private mutating func escapedString(_ text: Span<UInt8>, after plain: Range<Int>) throws(JSONFailure) -> String {
        var result = try utf8(text, plain)
        var start = index
        while true {
            switch try peek(text) {
            case UInt8(ascii: "\""):
                result += try utf8(text, start..<index)
                index += 1
                return result
            case UInt8(ascii: "\\"):
                result += try utf8(text, start..<index)
                index += 1
                result.unicodeScalars.append(try escape(text))
                start = index
            case 0..<0x20: throw failure(.controlInString(text[index]))
            default: index += 1
            }
        }
    }

    private func utf8(_ text: Span<UInt8>, _ range: Range<Int>) throws(JSONFailure) -> String {
        do {
            return String(copying: try UTF8Span(validating: text.extracting(range)))
        } catch {
            throw JSONFailure(reason: .invalidUTF8, offset: range.lowerBound + error.byteOffsets.lowerBound)
        }
    }

    /// The character of an escape, from the octet after the backslash.
    private mutating func escape(_ text: Span<UInt8>) throws(JSONFailure) -> Unicode.Scalar {
        let octet = try peek(text)
        let scalar: Unicode.Scalar
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scalar = Unicode.Scalar(octet)
        case UInt8(ascii: "b"): scalar = "\u{08}"
        case UInt8(ascii: "f"): scalar = "\u{0C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "u"):
            index += 1
            return try unicodeEscape(text)
        default: throw failure(.invalidEscape)
        }
        index += 1
        return scalar
    }

    /// Reads four hexadecimal digits, or two escapes that form a surrogate pair.
    private mutating func unicodeEscape(_ text: Span<UInt8>) throws(JSONFailure) -> Unicode.Scalar {
        let start = index
        let first = try fourDigits(text)
        if let scalar = Unicode.Scalar(first) { return scalar }
        let lone = JSONFailure(reason: .loneSurrogate, offset: start)
        guard first < 0xDC00, try peek(text) == UInt8(ascii: "\\") else { throw lone }
        index += 1
        guard try peek(text) == UInt8(ascii: "u") else { throw lone }
        index += 1
        let second = try fourDigits(text)
        guard 0xDC00..<0xE000 ~= second,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw lone }
        return scalar
    }

    private mutating func fourDigits(_ text: Span<UInt8>) throws(JSONFailure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let octet = try peek(text)
            guard let digit = Self.hexadecimal(octet) else { throw failure(.invalidEscape) }
            value = value << 4 | digit
            index += 1
        }
        return value
    }

    private static func hexadecimal(_ octet: UInt8) -> UInt32? {
        if isDigit(octet) { return UInt32(octet &- 0x30) }
        let value = (octet | 0x20) &- UInt8(ascii: "a")
        return value < 6 ? UInt32(value) + 10 : nil
    }
}
