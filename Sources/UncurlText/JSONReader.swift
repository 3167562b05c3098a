/// Reads a JSON text (RFC 8259) in UTF-8, strictly: text outside the grammar is a problem, with its position. Integers
/// keep all their digits. Of two members with one name the last counts, as with other common readers, unless names have
/// to be unique. A name with more than ``MarkRun/limit`` combining marks in a row is a problem.
package struct JSONReader {
    /// Octets that are no JSON text.
    package struct Problem: Error, Hashable, Sendable {
        /// What is wrong (RFC 8259).
        package enum Reason: Hashable, Sendable {
            /// The text ends inside a value.
            case unexpectedEnd
            /// An octet is not allowed at this position.
            case unexpected(octet: UInt8)
            /// A string holds octets that are not UTF-8.
            case invalidUTF8
            /// A backslash is followed by no known escape.
            case invalidEscape
            /// A surrogate has no partner.
            case loneSurrogate
            /// A string holds an unescaped control character (§7).
            case controlInString(UInt8)
            /// A number is malformed (§6).
            case invalidNumber
            /// A number is too large for a double.
            case numberOutOfRange
            /// Arrays and objects are nested deeper than the limit.
            case tooDeep(limit: Int)
            /// A member's name has more combining marks in a row than the limit.
            case tooManyMarks(limit: Int)
            /// An object has two members with one name.
            case repeatedName
            /// Something other than blanks follows the value.
            case trailingOctets
        }

        /// What is wrong.
        package let reason: Reason
        /// Octets before it.
        package let offset: Int

        /// A problem at a position.
        package init(_ reason: Reason, at offset: Int) { (self.reason, self.offset) = (reason, offset) }
    }

    /// The most levels of nesting. The reader is recursive; 512 levels take a tenth of the smallest stack that a thread
    /// has here. Foundation's reader has the same limit.
    package static let depthLimit = 512

    private let hasUniqueNames: Bool
    private let takesLoneSurrogates: Bool
    /// Whether the value is made, or the text only checked.
    private let builds: Bool
    private var index = 0

    /// The value of a whole text.
    ///
    /// - Parameters:
    ///   - uniqueNames: Whether two members of an object with one name are a problem.
    ///   - loneSurrogates: Whether a surrogate without a partner becomes U+FFFD, which the grammar allows: archives cut
    ///     the contents that they hold, between surrogates too. Otherwise it is a problem.
    package static func read(
        _ text: [UInt8],
        uniqueNames: Bool = false,
        loneSurrogates: Bool = false
    ) throws(Problem) -> JSONTree {
        var reader = JSONReader(uniqueNames, loneSurrogates, builds: true)
        return try reader.whole(text.span)
    }

    /// The value of a whole text.
    package static func read(_ text: Span<UInt8>) throws(Problem) -> JSONTree {
        var reader = JSONReader(false, false, builds: true)
        return try reader.whole(text)
    }

    /// Throws for octets that are no JSON text, without making a value. How large numbers are is not checked.
    package static func check(_ text: Span<UInt8>, loneSurrogates: Bool = false) throws(Problem) {
        var reader = JSONReader(false, loneSurrogates, builds: false)
        _ = try reader.whole(text)
    }

    private init(_ uniqueNames: Bool, _ loneSurrogates: Bool, builds: Bool) {
        (hasUniqueNames, takesLoneSurrogates, self.builds) = (uniqueNames, loneSurrogates, builds)
    }

    private mutating func whole(_ text: Span<UInt8>) throws(Problem) -> JSONTree {
        skipBlanks(text)
        let value = try value(text, depth: 0)
        skipBlanks(text)
        guard index == text.count else { throw problem(.trailingOctets) }
        return value
    }

    private func problem(_ reason: Problem.Reason) -> Problem { Problem(reason, at: index) }

    private mutating func skipBlanks(_ text: Span<UInt8>) {
        while index < text.count {
            switch text[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private func peek(_ text: Span<UInt8>) throws(Problem) -> UInt8 {
        guard index < text.count else { throw problem(.unexpectedEnd) }
        return text[index]
    }

    private mutating func take(_ octet: UInt8, _ text: Span<UInt8>) throws(Problem) {
        let next = try peek(text)
        guard next == octet else { throw problem(.unexpected(octet: next)) }
        index += 1
    }

    /// value = false / null / true / object / array / number / string (§3)
    private mutating func value(_ text: Span<UInt8>, depth: Int) throws(Problem) -> JSONTree {
        switch try peek(text) {
        case UInt8(ascii: "{"): return try object(text, depth: depth + 1)
        case UInt8(ascii: "["): return try array(text, depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string(text, isKept: builds))
        case UInt8(ascii: "t"): return try word("true", .bool(true), text)
        case UInt8(ascii: "f"): return try word("false", .bool(false), text)
        case UInt8(ascii: "n"): return try word("null", .null, text)
        default: return try number(text)
        }
    }

    private mutating func word(
        _ word: StaticString,
        _ value: JSONTree,
        _ text: Span<UInt8>
    ) throws(Problem) -> JSONTree {
        for letter in word.description.utf8 { try take(letter, text) }
        return value
    }

    /// object = begin-object [ member *( value-separator member ) ] end-object (§4)
    private mutating func object(_ text: Span<UInt8>, depth: Int) throws(Problem) -> JSONTree {
        try enter(depth)
        var members: [(String, JSONTree)] = []
        // By octets: a hash of a long run of combining marks is slow. Few members are searched.
        var places: [[UInt8]: Int] = [:]
        if try closes(UInt8(ascii: "}"), text) { return .object(members) }
        repeat {
            skipBlanks(text)
            let start = index
            let name = try string(text)
            guard !MarkRun.isTooLong(in: name) else { throw Problem(.tooManyMarks(limit: MarkRun.limit), at: start) }
            let place =
                places.isEmpty
                ? members.firstIndex { $0.0.utf8.elementsEqual(name.utf8) } : places[Array(name.utf8)]
            guard place == nil || !hasUniqueNames else { throw Problem(.repeatedName, at: start) }
            skipBlanks(text)
            try take(UInt8(ascii: ":"), text)
            skipBlanks(text)
            let value = try value(text, depth: depth)
            guard builds else { continue }
            if let place {
                members[place].1 = value
                continue
            }
            members.append((name, value))
            if !places.isEmpty {
                places[Array(name.utf8)] = members.count - 1
            } else if members.count == 16 {
                for (place, member) in members.enumerated() { places[Array(member.0.utf8)] = place }
            }
        } while try !ends(UInt8(ascii: "}"), text)
        return .object(members)
    }

    /// array = begin-array [ value *( value-separator value ) ] end-array (§5)
    private mutating func array(_ text: Span<UInt8>, depth: Int) throws(Problem) -> JSONTree {
        try enter(depth)
        var elements: [JSONTree] = []
        if try closes(UInt8(ascii: "]"), text) { return .array(elements) }
        repeat {
            skipBlanks(text)
            let value = try value(text, depth: depth)
            if builds { elements.append(value) }
        } while try !ends(UInt8(ascii: "]"), text)
        return .array(elements)
    }

    /// Reads the opening bracket.
    private mutating func enter(_ depth: Int) throws(Problem) {
        guard depth <= Self.depthLimit else { throw problem(.tooDeep(limit: Self.depthLimit)) }
        index += 1
    }

    /// Whether the closing bracket follows at once.
    private mutating func closes(_ bracket: UInt8, _ text: Span<UInt8>) throws(Problem) -> Bool {
        skipBlanks(text)
        guard try peek(text) == bracket else { return false }
        index += 1
        return true
    }

    /// Reads what follows an element: true for the closing bracket, false for a comma.
    private mutating func ends(_ bracket: UInt8, _ text: Span<UInt8>) throws(Problem) -> Bool {
        skipBlanks(text)
        let next = try peek(text)
        guard next == bracket || next == UInt8(ascii: ",") else { throw problem(.unexpected(octet: next)) }
        index += 1
        return next == bracket
    }

    /// number = [ minus ] int [ frac ] [ exp ] (§6)
    private mutating func number(_ text: Span<UInt8>) throws(Problem) -> JSONTree {
        let start = index
        let isNegative = text[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let first = try peek(text)
        guard Self.isDigit(first) else { throw problem(isNegative ? .invalidNumber : .unexpected(octet: first)) }
        let digits = index
        skipDigits(text)
        guard first != UInt8(ascii: "0") || index == digits + 1 else { throw problem(.invalidNumber) }
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
        guard builds else { return .null }
        if isInteger, !isNegative, let whole = Self.integer(text, start..<index) { return .integer(whole) }
        let written = try utf8(text, start..<index, true)
        guard isInteger || Double(written)?.isFinite == true else { throw problem(.numberOutOfRange) }
        return .number(written)
    }

    private static func isDigit(_ octet: UInt8) -> Bool { octet &- 0x30 < 10 }

    private mutating func skipDigits(_ text: Span<UInt8>) {
        while index < text.count, Self.isDigit(text[index]) { index += 1 }
    }

    private mutating func takeDigits(_ text: Span<UInt8>) throws(Problem) {
        guard Self.isDigit(try peek(text)) else { throw problem(.invalidNumber) }
        skipDigits(text)
    }

    /// The integer; nil where it has more than 64 bits.
    private static func integer(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var value: UInt64 = 0
        for index in range {
            let (tens, isTooMuch) = value.multipliedReportingOverflow(by: 10)
            let (sum, isStillTooMuch) = tens.addingReportingOverflow(UInt64(text[index] &- 0x30))
            guard !isTooMuch, !isStillTooMuch else { return nil }
            value = sum
        }
        return value
    }

    /// string = quotation-mark *char quotation-mark (§7). Without `isKept` it is only checked.
    private mutating func string(_ text: Span<UInt8>, isKept: Bool = true) throws(Problem) -> String {
        try take(UInt8(ascii: "\""), text)
        var result = ""
        var start = index
        while true {
            switch try peek(text) {
            case UInt8(ascii: "\""):
                let rest = try utf8(text, start..<index, isKept)
                index += 1
                return result.isEmpty ? rest : result + rest
            case UInt8(ascii: "\\"):
                result += try utf8(text, start..<index, isKept)
                index += 1
                result.unicodeScalars.append(try escape(text))
                start = index
            case 0..<0x20: throw problem(.controlInString(text[index]))
            default: index += 1
            }
        }
    }

    private func utf8(_ text: Span<UInt8>, _ range: Range<Int>, _ isKept: Bool) throws(Problem) -> String {
        do {
            let valid = try UTF8Span(validating: text.extracting(range))
            return isKept ? String(copying: valid) : ""
        } catch {
            throw Problem(.invalidUTF8, at: range.lowerBound + error.byteOffsets.lowerBound)
        }
    }

    /// The character of an escape, from the octet after the backslash.
    private mutating func escape(_ text: Span<UInt8>) throws(Problem) -> Unicode.Scalar {
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
        default: throw problem(.invalidEscape)
        }
        index += 1
        return scalar
    }

    /// Reads four hexadecimal digits, or two escapes that form a surrogate pair.
    private mutating func unicodeEscape(_ text: Span<UInt8>) throws(Problem) -> Unicode.Scalar {
        let start = index
        let first = try fourDigits(text)
        if let scalar = Unicode.Scalar(first) { return scalar }
        let end = index
        if first < 0xDC00, try peek(text) == UInt8(ascii: "\\") {
            index += 1
            if try peek(text) == UInt8(ascii: "u") {
                index += 1
                let second = try fourDigits(text)
                if 0xDC00..<0xE000 ~= second,
                    let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
                {
                    return scalar
                }
            }
        }
        guard takesLoneSurrogates else { throw Problem(.loneSurrogate, at: start) }
        index = end
        return "\u{FFFD}"
    }

    private mutating func fourDigits(_ text: Span<UInt8>) throws(Problem) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = hexValue(of: try peek(text)) else { throw problem(.invalidEscape) }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}

extension JSONReader.Problem: CustomStringConvertible {
    package var description: String {
        switch reason {
        case .unexpectedEnd: "the text ends within a value"
        case .unexpected(let octet): "unexpected \(Self.name(octet))"
        case .invalidUTF8: "octets that are not UTF-8"
        case .invalidEscape: "an escape that does not exist"
        case .loneSurrogate: "one half of a surrogate pair"
        case .controlInString(let octet): "control character \(Self.name(octet)) in a string"
        case .invalidNumber: "a malformed number"
        case .numberOutOfRange: "a number beyond the range of doubles"
        case .tooDeep(let limit): "more than \(limit) levels of nesting"
        case .tooManyMarks(let limit): "a name with more than \(limit) combining marks in a row"
        case .repeatedName: "a member's name is there twice"
        case .trailingOctets: "more text after the value"
        }
    }

    private static func name(_ octet: UInt8) -> String {
        0x21..<0x7F ~= octet ? String(UnicodeScalar(octet)) : "0x" + String(octet, radix: 16, uppercase: true)
    }
}
