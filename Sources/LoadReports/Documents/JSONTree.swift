import LoadGenerator

/// A JSON document (RFC 8259) to be written; objects keep the order they were given.
package enum JSONTree: Sendable, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    case null
    case bool(Bool)
    case integer(UInt64)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([(String, JSONTree)])

    package init(stringLiteral text: String) { self = .string(text) }
    package init(nilLiteral: ()) { self = .null }

    static func optional(_ value: UInt64?) -> JSONTree { value.map { .integer($0) } ?? .null }

    /// The document, indented by two blanks, with a line feed at its end.
    package var text: String {
        var out = ""
        write(to: &out, indent: "")
        return out + "\n"
    }

    /// The document on one line.
    var compact: String {
        switch self {
        case .null, .bool, .integer, .number, .string:
            var out = ""
            write(to: &out, indent: "")
            return out
        case .array(let values): return "[" + values.map(\.compact).joined(separator: ",") + "]"
        case .object(let members):
            return "{" + members.map { JSONTree.string($0.0).compact + ":" + $0.1.compact }.joined(separator: ",")
                + "}"
        }
    }

    private func write(to out: inout String, indent: String) {
        switch self {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .integer(let value): out += String(value)
        // JSON has no infinity and no NaN; a ratio over nothing is no number.
        case .number(let value): out += value.isFinite ? "\(value)" : "null"
        case .string(let value): Self.write(string: value, to: &out)
        case .array(let values):
            Self.write(values, "[", "]", to: &out, indent) { value, inner, out in value.write(to: &out, indent: inner) }
        case .object(let members):
            Self.write(members, "{", "}", to: &out, indent) { member, inner, out in
                Self.write(string: member.0, to: &out)
                out += ": "
                member.1.write(to: &out, indent: inner)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item],
        _ open: String,
        _ close: String,
        to out: inout String,
        _ indent: String,
        _ each: (Item, String, inout String) -> Void
    ) {
        out += open
        let inner = indent + "  "
        for (index, item) in items.enumerated() {
            out += index == 0 ? "\n\(inner)" : ",\n\(inner)"
            each(item, inner, &out)
        }
        out += items.isEmpty ? close : "\n\(indent)\(close)"
    }

    /// RFC 8259 §7: quotation mark, reverse solidus and the control characters are escaped, nothing else must be.
    private static func write(string: String, to out: inout String) {
        out += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: out.unicodeScalars.append(scalar)
            }
        }
        out += "\""
    }
}
