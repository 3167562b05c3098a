/// A JSON value (RFC 8259). Numbers keep their text, so that an echo changes none of their digits.
package indirect enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSON])
    /// Members in their order; written sorted by name, as httpbin does.
    case object([Member])

    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSON
    }

    static func object(_ members: KeyValuePairs<String, JSON>) -> JSON {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    static func number(_ value: Int) -> JSON { .number(String(value)) }

    /// Pairs as an object; a name that comes more than once has an array of its values.
    static func grouping(_ pairs: [Pair]) -> JSON {
        var members: [Member] = []
        var indices: [String: Int] = [:]
        for pair in pairs {
            guard let index = indices[pair.name] else {
                indices[pair.name] = members.count
                members.append(Member(name: pair.name, value: .string(pair.value)))
                continue
            }
            switch members[index].value {
            case .array(var values):
                members[index].value = .null
                values.append(.string(pair.value))
                members[index].value = .array(values)
            case .null, .bool, .number, .string, .object:
                members[index].value = .array([members[index].value, .string(pair.value)])
            }
        }
        return .object(members)
    }

    /// Two blanks a level and a line feed at the end, or everything on one line.
    func serialized(pretty: Bool = true) -> [UInt8] {
        var result: [UInt8] = []
        write(to: &result, indent: pretty ? 0 : nil)
        if pretty { result.append(UInt8(ascii: "\n")) }
        return result
    }

    private func write(to out: inout [UInt8], indent: Int?) {
        switch self {
        case .null: out.append("null")
        case .bool(let value): out.append(value ? "true" : "false")
        case .number(let text): out += text.utf8
        case .string(let text): JSON.write(text, to: &out)
        case .array(let values):
            JSON.writeList(values, "[", "]", to: &out, indent: indent) { value, out, inner in
                value.write(to: &out, indent: inner)
            }
        case .object(let members):
            let sorted = members.sorted { $0.name < $1.name }
            JSON.writeList(sorted, "{", "}", to: &out, indent: indent) { member, out, inner in
                JSON.write(member.name, to: &out)
                out.append(": ")
                member.value.write(to: &out, indent: inner)
            }
        }
    }

    private static func writeList<Element>(
        _ elements: [Element],
        _ open: StaticString,
        _ close: StaticString,
        to out: inout [UInt8],
        indent: Int?,
        _ write: (Element, inout [UInt8], Int?) -> Void
    ) {
        out.append(open)
        let inner = indent.map { $0 + 1 }
        for (index, element) in elements.enumerated() {
            if index > 0 { out.append(indent == nil ? ", " : ",") }
            newLine(inner, to: &out)
            write(element, &out, inner)
        }
        if !elements.isEmpty { newLine(indent, to: &out) }
        out.append(close)
    }

    private static func newLine(_ indent: Int?, to out: inout [UInt8]) {
        guard let indent else { return }
        out.append(UInt8(ascii: "\n"))
        for _ in 0..<indent { out.append("  ") }
    }

    /// RFC 8259 §7: quote, backslash and controls are escaped, everything else is UTF-8 as it is.
    private static func write(_ text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): out.append("\\\"")
            case UInt8(ascii: "\\"): out.append("\\\\")
            case 0x0A: out.append("\\n")
            case 0x0D: out.append("\\r")
            case 0x09: out.append("\\t")
            case 0..<0x20:
                out.append("\\u00")
                if byte < 16 { out.append("0") }
                out.append(hex: UInt64(byte))
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}
