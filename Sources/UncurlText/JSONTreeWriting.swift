extension JSONTree {
    /// The document, indented by two blanks, with a line feed at its end. What is nested more than 16 levels deep is on
    /// one line: without a limit, the indentation could make the text hundreds of times as long.
    package var text: String {
        var writer = JSONTreeWriter(gap: "", indents: true)
        writer.write(self, depth: 0)
        return String(decoding: writer.octets, as: UTF8.self) + "\n"
    }

    /// The document on one line.
    ///
    /// - Parameter gap: behind commas and colons.
    package func line(gap: String = "") -> String {
        var writer = JSONTreeWriter(gap: gap, indents: false)
        writer.write(self, depth: 0)
        return String(decoding: writer.octets, as: UTF8.self)
    }
}

private struct JSONTreeWriter {
    let gap: String
    let indents: Bool
    /// How many levels of nesting are indented.
    private static let levels = 16
    var octets: [UInt8] = []

    mutating func write(_ value: JSONTree, depth: Int) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(String(value))
        case .number(let digits): append(digits)
        case .string(let text): write(text)
        case .array(let values):
            list(values, "[", "]", depth) { writer, value in writer.write(value, depth: depth + 1) }
        case .object(let members):
            list(members, "{", "}", depth) { writer, member in
                writer.write(member.0)
                writer.append(writer.indents ? ": " : ":" + writer.gap)
                writer.write(member.1, depth: depth + 1)
            }
        }
    }

    private mutating func list<Item>(
        _ items: [Item],
        _ open: String,
        _ close: String,
        _ depth: Int,
        _ each: (inout JSONTreeWriter, Item) -> Void
    ) {
        let indents = indents && depth < Self.levels
        append(open)
        for (index, item) in items.enumerated() {
            if index > 0 { append(indents ? "," : "," + gap) }
            if indents { newLine(depth + 1) }
            each(&self, item)
        }
        if indents, !items.isEmpty { newLine(depth) }
        append(close)
    }

    private mutating func newLine(_ depth: Int) {
        octets.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { append("  ") }
    }

    private mutating func append(_ text: String) { octets += text.utf8 }

    /// RFC 8259 §7: quotation mark, reverse solidus and the control characters are escaped, nothing else must be.
    private mutating func write(_ text: String) {
        octets.append(UInt8(ascii: "\""))
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): octets += [UInt8(ascii: "\\"), octet]
            case 0x0A: append("\\n")
            case 0x0D: append("\\r")
            case 0x09: append("\\t")
            case 0..<0x20: octets += Array("\\u00".utf8) + [Hex.lower(octet >> 4), Hex.lower(octet & 15)]
            default: octets.append(octet)
            }
        }
        octets.append(UInt8(ascii: "\""))
    }
}
