/// Finds `{{…}}` in a run's texts, and replaces them by marks that are valid in a URL, a field and a body. So a text is
/// checked like any other, and then divided at the marks.
package struct TemplateSlots: Hashable, Sendable {
    package private(set) var values: [TemplateValue] = []
    /// Further names that places may have, all of ASCII, with the number of the user's variable for each.
    package var variables: [String: Int] = [:]
    /// The same for names of one scenario.
    package var scenarioVariables: [String: Int] = [:]
    /// The values by name: a file is read once, however often it is named.
    private var known: [OctetText: Int] = [:]

    private static let mark = Array("uncurl0slot".utf8)
    private static let end = UInt8(ascii: "x")

    package var isEmpty: Bool { values.isEmpty }

    /// Whether the values depend on how many requests were sent before.
    var isNumbered: Bool { values.contains { $0.isNumbered } }

    package init() {}

    /// - Parameter escape: The kind of string that the text is part of.
    package mutating func protect(
        _ text: String,
        in escape: TemplateValue.Escape? = nil
    ) throws(TemplateProblem) -> String {
        String(decoding: try protect(Array(text.utf8), in: escape), as: UTF8.self)
    }

    package mutating func protect(
        _ bytes: [UInt8],
        in escape: TemplateValue.Escape? = nil
    ) throws(TemplateProblem) -> [UInt8] {
        var out: [UInt8] = []
        var position = 0
        guard bytes[...].firstIndex(of: Self.mark) == nil else {
            throw .mark(String(decoding: Self.mark, as: UTF8.self))
        }
        while let open = bytes[position...].firstPair(UInt8(ascii: "{")) {
            guard let close = bytes[open...].firstPair(UInt8(ascii: "}")) else { break }
            out += bytes[position..<open]
            let name = String(decoding: bytes[(open + 2)..<close], as: UTF8.self).trimmed
            out += Self.mark
            out += String(try index(of: name, escape)).utf8
            out.append(Self.end)
            position = close + 2
        }
        return position == 0 ? bytes : out + bytes[position...]
    }

    private mutating func index(of name: String, _ escape: TemplateValue.Escape?) throws(TemplateProblem) -> Int {
        let variable = name.isASCII ? scenarioVariables[name] ?? variables[name] : nil
        // A variable may have another value under the same name, in another scenario.
        let key = OctetText((escape?.rawValue ?? "") + ":" + (variable.map { "\($0)" } ?? "{\(name)"))
        if let index = known[key] { return index }
        let value: TemplateValue = if let variable { .variable(variable) } else { try TemplateValue(name) }
        values.append(escape.map { .escaped(value, $0) } ?? value)
        known[key] = values.count - 1
        return values.count - 1
    }

    /// Returns whether a prepared text has a place to fill in.
    package func appears(in text: String) -> Bool { !template(text).isFixed }

    /// Returns the text as pieces.
    package func template(_ text: String) -> Template { template(Array(text.utf8)) }

    package func template(_ bytes: [UInt8]) -> Template {
        var pieces: [Template.Piece] = []
        var position = 0
        while !values.isEmpty, let start = bytes[position...].firstIndex(of: Self.mark) {
            let digits = bytes[(start + Self.mark.count)...].prefix { $0 != Self.end }
            guard digits.endIndex < bytes.endIndex, let index = Int(String(decoding: digits, as: UTF8.self)),
                values.indices.contains(index)
            else { break }
            if start > position { pieces.append(.text(Array(bytes[position..<start]))) }
            pieces.append(.value(values[index]))
            position = digits.endIndex + 1
        }
        if position < bytes.count { pieces.append(.text(Array(bytes[position...]))) }
        return Template(pieces: pieces)
    }
}

extension ArraySlice<UInt8> {
    /// Returns where a byte occurs twice in a row.
    fileprivate func firstPair(_ byte: UInt8) -> Int? {
        guard count > 1 else { return nil }
        return (startIndex..<endIndex - 1).first { self[$0] == byte && self[$0 + 1] == byte }
    }

    /// Returns where `needle` begins.
    fileprivate func firstIndex(of needle: [UInt8]) -> Int? {
        guard count >= needle.count else { return nil }
        return (startIndex...endIndex - needle.count).first { self[$0...].starts(with: needle) }
    }
}
