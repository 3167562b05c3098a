/// Writes the octets of a JSON text (RFC 8259). Its owner calls for each value in order, and keeps the depth.
package struct JSONWriter {
    /// What is written so far.
    package var octets: [UInt8] = []
    private let levels: Int
    private let gap: String
    private let escapesSlashes: Bool

    /// - Parameters:
    ///   - levels: How many levels of nesting are indented, by two blanks each. What is nested deeper is on one line:
    ///     the indentation of a deep text could be hundreds of times as long as the text.
    ///   - gap: What is behind the commas and colons of a text without indentation.
    ///   - escapesSlashes: Whether `/` is written as `\/`.
    package init(levels: Int = 0, gap: String = "", escapesSlashes: Bool = false) {
        (self.levels, self.gap, self.escapesSlashes) = (levels, gap, escapesSlashes)
    }

    /// Writes `null`, `true`, `false` or the digits of a number.
    package mutating func word(_ text: String) { octets += text.utf8 }

    /// Writes a text. Quotation marks, reverse solidus and the control characters are escaped, the rest is UTF-8 (§7).
    package mutating func string(_ text: String) {
        octets.append(UInt8(ascii: "\""))
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): octets += [UInt8(ascii: "\\"), octet]
            case UInt8(ascii: "/") where escapesSlashes: octets += [UInt8(ascii: "\\"), octet]
            case 0x0A: word("\\n")
            case 0x0D: word("\\r")
            case 0x09: word("\\t")
            case 0x08: word("\\b")
            case 0x0C: word("\\f")
            case 0..<0x20:
                word("\\u00")
                octets += [hexDigit(octet >> 4), hexDigit(octet & 15)]
            default: octets.append(octet)
            }
        }
        octets.append(UInt8(ascii: "\""))
    }

    /// Writes the name of a member, and the colon behind it.
    package mutating func name(_ text: String) {
        string(text)
        word(levels > 0 ? ": " : ":" + gap)
    }

    /// Begins an array.
    package mutating func openArray() { octets.append(UInt8(ascii: "[")) }
    /// Begins an object.
    package mutating func openObject() { octets.append(UInt8(ascii: "{")) }

    /// Writes what is before an element or a member of an array or an object that is nested in `depth` others.
    package mutating func separate(isFirst: Bool, depth: Int) {
        if !isFirst { word(depth < levels ? "," : "," + gap) }
        if depth < levels { newLine(depth + 1) }
    }

    /// Ends an array.
    package mutating func closeArray(isEmpty: Bool, depth: Int) { close(UInt8(ascii: "]"), isEmpty, depth) }
    /// Ends an object.
    package mutating func closeObject(isEmpty: Bool, depth: Int) { close(UInt8(ascii: "}"), isEmpty, depth) }

    private mutating func close(_ bracket: UInt8, _ isEmpty: Bool, _ depth: Int) {
        if !isEmpty, depth < levels { newLine(depth) }
        octets.append(bracket)
    }

    private mutating func newLine(_ depth: Int) {
        octets.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { word("  ") }
    }
}
