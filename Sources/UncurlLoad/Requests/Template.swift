import CUncurlLinux
import UncurlText

/// A text with places that are filled in again for each request.
package struct Template: Hashable, Sendable {
    package enum Piece: Hashable, Sendable {
        case text([UInt8])
        case value(TemplateValue)
    }

    package let pieces: [Piece]

    /// Whether there is nothing to fill in.
    package var isFixed: Bool {
        pieces.allSatisfy { if case .text = $0 { true } else { false } }
    }

    /// Whether everything that is filled in is a variable of the user.
    package var isOfVariables: Bool {
        pieces.allSatisfy { piece in
            switch piece {
            case .text, .value(.variable), .value(.escaped(.variable, _)): true
            case .value: false
            }
        }
    }

    /// Returns the text with these variables, where it ``isOfVariables``.
    func filled(with variables: [[UInt8]]) -> [UInt8] {
        let variable = { (number: Int) in variables.indices.contains(number) ? variables[number] : [] }
        return pieces.flatMap { piece -> [UInt8] in
            switch piece {
            case .text(let bytes): bytes
            case .value(.variable(let number)): variable(number)
            case .value(.escaped(.variable(let number), let escape)): escape.apply(to: variable(number))
            case .value: []
            }
        }
    }

    /// The text's position in a request, which decides how a value is escaped.
    enum Place { case target, field, body }

    func render(_ context: inout TemplateContext, for place: Place) -> [UInt8] {
        var out: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .text(let bytes): out += bytes
            case .value(let value):
                switch place {
                case .body: out += context.bytes(of: value)
                // RFC 9110 §5.5: a line of a file may contain what a field may not.
                case .field: out += context.bytes(of: value).map { $0 < 0x20 && $0 != 9 || $0 == 0x7F ? 0x20 : $0 }
                case .target: for byte in context.bytes(of: value) { Self.encode(byte, &out) }
                }
            }
        }
        return out
    }

    /// Appends a byte. Unreserved characters stay as they are; everything else is data here, not syntax.
    package static func encode(_ byte: UInt8, _ out: inout [UInt8]) {
        if PercentCoding.isUnreserved(byte) { out.append(byte) } else { PercentCoding.append(byte, to: &out) }
    }
}

/// The source of a request's values. Each thread has one.
struct TemplateContext {
    let thread: Int
    let shard: Shard
    var random: RandomStream
    /// The request's number among those of all threads and parts. Each number occurs once.
    var number: UInt64 = 0
    var user = 0
    /// The user's variables, by their numbers.
    var variables: [[UInt8]] = []

    init(thread: Int, shard: Shard = .whole, random: RandomStream) {
        (self.thread, self.shard, self.random) = (thread, shard, random)
    }

    mutating func bytes(of value: TemplateValue) -> [UInt8] {
        switch value {
        case .counter(let from): Array(String(from &+ number).utf8)
        case .random(let low, let high): Array(String(UInt64.random(in: low...high, using: &random)).utf8)
        case .hex(let count): hex(count)
        case .text(let count): characters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", count)
        case .uuid: uuid()
        case .line(let file): file.lines[Int(shard.place(of: number, in: UInt64(file.lines.count)))]
        case .randomLine(let file): file.lines[Int.random(in: file.lines.indices, using: &random)]
        case .thread: Array(String(thread).utf8)
        case .user: Array(String(user).utf8)
        case .time: Array(String(uncurl_clock_ns(CLOCK_REALTIME) / 1_000_000).utf8)
        case .traceparent: Array("00-".utf8) + hex(32) + Array("-".utf8) + hex(16) + Array("-01".utf8)
        case .variable(let number): variables.indices.contains(number) ? variables[number] : []
        case .escaped(let value, let escape): escape.apply(to: bytes(of: value))
        }
    }

    private mutating func hex(_ count: Int) -> [UInt8] { characters("0123456789abcdef", count) }

    private mutating func characters(_ alphabet: String, _ count: Int) -> [UInt8] {
        let letters = Array(alphabet.utf8)
        return (0..<count).map { _ in letters[Int.random(in: letters.indices, using: &random)] }
    }

    /// Returns a UUID of version 4 (RFC 9562 §5.4).
    private mutating func uuid() -> [UInt8] {
        var digits = hex(32)
        digits[12] = UInt8(ascii: "4")
        digits[16] = Array("89ab".utf8)[Int(random.next() & 3)]
        for place in [20, 16, 12, 8] { digits.insert(UInt8(ascii: "-"), at: place) }
        return digits
    }
}

extension TemplateValue.Escape {
    package func apply(to bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .json: Array(JSONTree.string(String(decoding: bytes, as: UTF8.self)).line().utf8.dropFirst().dropLast())
        case .form:
            bytes.reduce(into: []) { out, byte in Template.encode(byte, &out) }
        }
    }
}

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
