/// A JSON document (RFC 8259), to be written or as it was read. Objects keep the order that they were given.
package enum JSONTree: Sendable, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number, not below zero.
    case integer(UInt64)
    /// Any other number, by its digits: what was read is written as it was.
    case number(String)
    /// A text.
    case string(String)
    /// Elements in order.
    case array([JSONTree])
    /// Members in order.
    case object([(String, JSONTree)])

    /// A text.
    package init(stringLiteral text: String) { self = .string(text) }
    /// `null`.
    package init(nilLiteral: ()) { self = .null }

    /// Null for an infinity and for what is no number, which JSON lacks: a ratio over nothing is no number.
    package static func number(_ value: Double) -> JSONTree { value.isFinite ? .number("\(value)") : .null }

    /// Null for nil.
    package static func optional(_ value: UInt64?) -> JSONTree { value.map { .integer($0) } ?? .null }

    // MARK: Reading

    /// A member of an object; nil where there is none, or where this is no object.
    package subscript(_ name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0.utf8.elementsEqual(name.utf8) }?.1
    }

    /// A number, whole or not; nil for any other value.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let digits): Double(digits).flatMap { $0.isFinite ? $0 : nil }
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// A whole number, not below zero; nil for any other value.
    package var integer: UInt64? { if case .integer(let value) = self { value } else { nil } }
    /// True or false; nil for any other value.
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// A text; nil for any other value.
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The elements of an array; nil for any other value.
    package var elements: [JSONTree]? { if case .array(let values) = self { values } else { nil } }
    /// The elements of an array; none for any other value.
    package var items: [JSONTree] { elements ?? [] }

    /// Of an object, without those that are null; nil for any other value.
    package var members: [(String, JSONTree)]? {
        guard case .object(let members) = self else { return nil }
        return members.filter { if case .null = $0.1 { false } else { true } }
    }

    /// The same object with another value for a member that it has, or one more.
    package func with(_ name: String, _ value: JSONTree) -> JSONTree {
        guard case .object(var members) = self else { return self }
        if let index = members.firstIndex(where: { $0.0 == name }) {
            members[index].1 = value
        } else {
            members.append((name, value))
        }
        return .object(members)
    }

    /// The same with the members of each object in the order of their names' octets.
    package var sorted: JSONTree {
        switch self {
        case .null, .bool, .integer, .number, .string: self
        case .array(let values): .array(values.map(\.sorted))
        case .object(let members):
            .object(
                members.map { ($0.0, $0.1.sorted) }
                    .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
            )
        }
    }
}

extension JSONTree {
    /// The document, indented by two blanks, with a line feed at its end. What is nested more than 16 levels deep is on
    /// one line.
    package var text: String { written(JSONWriter(levels: 16)) + "\n" }

    /// The document on one line.
    ///
    /// - Parameter gap: behind commas and colons.
    package func line(gap: String = "") -> String { written(JSONWriter(gap: gap)) }

    private func written(_ writer: consuming JSONWriter) -> String {
        write(to: &writer, depth: 0)
        return String(decoding: writer.octets, as: UTF8.self)
    }

    private func write(to writer: inout JSONWriter, depth: Int) {
        switch self {
        case .null: writer.word("null")
        case .bool(let value): writer.word(value ? "true" : "false")
        case .integer(let value): writer.word(String(value))
        case .number(let digits): writer.word(digits)
        case .string(let text): writer.string(text)
        case .array(let values):
            writer.openArray()
            for (index, value) in values.enumerated() {
                writer.separate(isFirst: index == 0, depth: depth)
                value.write(to: &writer, depth: depth + 1)
            }
            writer.closeArray(isEmpty: values.isEmpty, depth: depth)
        case .object(let members):
            writer.openObject()
            for (index, (name, value)) in members.enumerated() {
                writer.separate(isFirst: index == 0, depth: depth)
                writer.name(name)
                value.write(to: &writer, depth: depth + 1)
            }
            writer.closeObject(isEmpty: members.isEmpty, depth: depth)
        }
    }
}

extension JSONTree: Equatable {
    package static func == (left: JSONTree, right: JSONTree) -> Bool { left.line() == right.line() }
}
