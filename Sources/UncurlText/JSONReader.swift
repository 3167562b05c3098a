/// Reads a JSON document (RFC 8259), strictly: what it takes, any reader takes. Of two members with one name the last
/// counts, as with the readers that people compare with, unless names have to be unique. A name with more than
/// ``MarkRun/limit`` combining marks in a row is a problem.
package struct JSONReader {
    /// Octets that are no JSON document.
    package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong.
        package let description: String
        /// Bytes before it.
        package let offset: Int
    }

    /// A report nests six deep; a browser's archive holds calls within calls, two levels each.
    static let depthLimit = 256

    private let bytes: [UInt8]
    private let hasUniqueNames: Bool
    private var position = 0

    /// The value of a whole document in UTF-8.
    ///
    /// - Parameter uniqueNames: Whether two members of an object with one name are a problem.
    package static func read(_ bytes: [UInt8], uniqueNames: Bool = false) throws(Problem) -> JSONTree {
        var reader = JSONReader(bytes, uniqueNames)
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.position == bytes.count else { throw reader.problem("something follows the document") }
        return value
    }

    private init(_ bytes: [UInt8], _ uniqueNames: Bool) { (self.bytes, hasUniqueNames) = (bytes, uniqueNames) }

    private func problem(_ text: String) -> Problem { Problem(description: text, offset: position) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(Problem) -> JSONTree {
        guard depth < Self.depthLimit else { throw problem("it is nested too deep") }
        skipBlanks()
        switch next {
        case nil: throw problem("it ends too early")
        case UInt8(ascii: "{")?: return try object(depth)
        case UInt8(ascii: "[")?: return try array(depth)
        case UInt8(ascii: "\"")?: return .string(try string())
        case UInt8(ascii: "t")?: return try word("true", .bool(true))
        case UInt8(ascii: "f")?: return try word("false", .bool(false))
        case UInt8(ascii: "n")?: return try word("null", .null)
        case UInt8(ascii: "-")?, (0x30...0x39)?: return try number()
        case .some: throw problem("a value is misspelled")
        }
    }

    private mutating func word(_ word: String, _ value: JSONTree) throws(Problem) -> JSONTree {
        guard bytes[position...].starts(with: word.utf8) else { throw problem("a value is misspelled") }
        position += word.utf8.count
        return value
    }

    private mutating func object(_ depth: Int) throws(Problem) -> JSONTree {
        position += 1
        var members: [(String, JSONTree)] = []
        // By octets: a hash of a long run of combining marks is slow.
        var indices: [[UInt8]: Int] = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw problem("a member's name is missing") }
            let start = position
            let name = try string()
            guard !MarkRun.isTooLong(in: name) else {
                throw Problem(description: "a member's name has too many combining marks in a row", offset: start)
            }
            let octets = Array(name.utf8)
            guard !hasUniqueNames || indices[octets] == nil else {
                throw Problem(description: "a member's name is there twice", offset: start)
            }
            guard take(UInt8(ascii: ":")) else { throw problem("a colon is missing") }
            let value = try value(depth: depth + 1)
            if let index = indices[octets] {
                members[index].1 = value
            } else {
                indices[octets] = members.count
                members.append((name, value))
            }
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw problem("an object is not closed") }
        return .object(members)
    }

    private mutating func array(_ depth: Int) throws(Problem) -> JSONTree {
        position += 1
        var values: [JSONTree] = []
        if take(UInt8(ascii: "]")) { return .array(values) }
        repeat { values.append(try value(depth: depth + 1)) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw problem("an array is not closed") }
        return .array(values)
    }

    /// number = [ "-" ] int [ frac ] [ exp ] (§6)
    private mutating func number() throws(Problem) -> JSONTree {
        let start = position
        let isNegative = step(over: "-")
        if !step(over: "0") { try digits() }
        let isWhole = !isNegative && next != UInt8(ascii: ".") && next != UInt8(ascii: "e") && next != UInt8(ascii: "E")
        if step(over: ".") { try digits() }
        if step(over: "eE") {
            _ = step(over: "+-")
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let whole = UInt64(text) { return .integer(whole) }
        guard Double(text)?.isFinite == true else { throw problem("a number is beyond all range") }
        return .number(text)
    }

    private mutating func step(over octets: StaticString) -> Bool {
        guard let next, octets.description.utf8.contains(next) else { return false }
        position += 1
        return true
    }

    private mutating func digits() throws(Problem) {
        guard let first = next, 0x30...0x39 ~= first else { throw problem("a number lacks a digit") }
        while let byte = next, 0x30...0x39 ~= byte { position += 1 }
    }

    private mutating func string() throws(Problem) -> String {
        position += 1
        var out: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: out, as: UTF8.self) else { throw problem("a string is not UTF-8") }
                return text
            case UInt8(ascii: "\\"): out += try escaped()
            case 0..<0x20: throw problem("a string holds a control character")
            default: out.append(byte)
            }
        }
        throw problem("a string is not closed")
    }

    private mutating func escaped() throws(Problem) -> [UInt8] {
        guard let byte = next else { throw problem("a string is not closed") }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "u"):
            var unit = try hex()
            if (0xD800...0xDBFF).contains(unit), bytes[position...].starts(with: "\\u".utf8) {
                let start = position
                position += 2
                let low = try hex()
                if (0xDC00...0xDFFF).contains(low) {
                    unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
                } else {
                    position = start
                }
            }
            // Archives cut the contents they hold, between surrogates too.
            return Array(String(Character(Unicode.Scalar(unit) ?? "\u{FFFD}")).utf8)
        default: throw problem("an escape is unknown")
        }
    }

    private mutating func hex() throws(Problem) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap(Hex.value) else { throw problem("an escape is unknown") }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
