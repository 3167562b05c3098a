import CUncurlLinux
import UncurlText

/// A text with places that are filled in again for each request.
package typealias Template = [TemplateValue]

extension Template {
    package var isFixed: Bool { allSatisfy { if case .fixed = $0 { true } else { false } } }

    /// Whether everything that is filled in is a variable of the user.
    package var isOfVariables: Bool {
        allSatisfy { piece in
            switch piece {
            case .fixed, .variable, .escaped(.variable, _): true
            default: false
            }
        }
    }

    /// Returns the text with these variables, where it ``isOfVariables``.
    func filled(with variables: [[UInt8]]) -> [UInt8] {
        let variable = { (number: Int) in variables.indices.contains(number) ? variables[number] : [] }
        return flatMap { piece -> [UInt8] in
            switch piece {
            case .fixed(let bytes): bytes
            case .variable(let number): variable(number)
            case .escaped(.variable(let number), let escape): escape.apply(to: variable(number))
            default: []
            }
        }
    }

    /// The text's position in a request, which decides how a value is escaped.
    enum Place { case target, field, body }

    func render(_ context: inout TemplateContext, for place: Place) -> [UInt8] {
        var out: [UInt8] = []
        for piece in self {
            let bytes = context.bytes(of: piece)
            switch (piece, place) {
            case (.fixed, _), (_, .body): out += bytes
            // RFC 9110 §5.5: a line of a file may contain what a field may not.
            case (_, .field): out += bytes.map { $0 < 0x20 && $0 != 9 || $0 == 0x7F ? 0x20 : $0 }
            case (_, .target): for byte in bytes { Self.encode(byte, &out) }
            }
        }
        return out
    }

    /// Appends a byte. Unreserved characters stay as they are; everything else is data here, not syntax.
    package static func encode(_ byte: UInt8, _ out: inout [UInt8]) {
        if isUnreservedOctet(byte) { out.append(byte) } else { appendPercentEncoded(byte, to: &out) }
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
    var variables: [[UInt8]] = []

    init(thread: Int, shard: Shard = .whole, random: RandomStream) {
        (self.thread, self.shard, self.random) = (thread, shard, random)
    }

    mutating func bytes(of value: TemplateValue) -> [UInt8] {
        switch value {
        case .fixed(let bytes): bytes
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
        case .form: bytes.reduce(into: []) { out, byte in Template.encode(byte, &out) }
        }
    }
}

/// Finds `{{…}}` in a run's texts, and replaces them by marks that are valid in a URL, a field and a body. So a text is
/// checked like any other, and then divided at the marks.
package struct TemplateSlots: Hashable, Sendable {
    package private(set) var values: [TemplateValue] = []
    /// Further names that places may have, all of ASCII, with the number of the user's variable for each.
    package var variables: [String: Int] = [:]
    package var scenarioVariables: [String: Int] = [:]
    /// The values by name: a file is read once, however often it is named.
    private var known: [OctetText: Int] = [:]

    private static let mark = Array("uncurl0slot".utf8)
    private static let end = UInt8(ascii: "x")

    package var isEmpty: Bool { values.isEmpty }

    /// Whether the values depend on how many requests were sent before.
    var isNumbered: Bool { values.contains { $0.isNumbered } }

    package init() {}

    package mutating func protect(
        _ text: String,
        in escape: TemplateValue.Escape? = nil
    ) throws(UsageError) -> String {
        String(decoding: try protect(Array(text.utf8), in: escape), as: UTF8.self)
    }

    package mutating func protect(
        _ bytes: [UInt8],
        in escape: TemplateValue.Escape? = nil
    ) throws(UsageError) -> [UInt8] {
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

    private mutating func index(of name: String, _ escape: TemplateValue.Escape?) throws(UsageError) -> Int {
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

    package func template(_ text: String) -> Template { template(Array(text.utf8)) }

    package func template(_ bytes: [UInt8]) -> Template {
        var pieces: [TemplateValue] = []
        var position = 0
        while !values.isEmpty, let start = bytes[position...].firstIndex(of: Self.mark) {
            let digits = bytes[(start + Self.mark.count)...].prefix { $0 != Self.end }
            guard digits.endIndex < bytes.endIndex, let index = Int(String(decoding: digits, as: UTF8.self)),
                values.indices.contains(index)
            else { break }
            if start > position { pieces.append(.fixed(Array(bytes[position..<start]))) }
            pieces.append(values[index])
            position = digits.endIndex + 1
        }
        if position < bytes.count { pieces.append(.fixed(Array(bytes[position...]))) }
        return pieces
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

/// A piece of a text: octets as they are, or the value that `{{…}}` stands for.
package enum TemplateValue: Hashable, Sendable {
    case fixed([UInt8])
    /// A count of requests: no two of a run have the same, whichever threads send them.
    case counter(from: UInt64)
    case random(UInt64, UInt64)
    /// This number of random hexadecimal digits, or of letters and digits.
    case hex(Int)
    case text(Int)
    case uuid
    /// The lines of a file in turn, all threads together, or one at random.
    case line(TemplateLines)
    case randomLine(TemplateLines)
    case thread
    /// The virtual user's number, that is the connection's, from 0.
    case user
    /// Milliseconds since 1970.
    case time
    /// A new trace's context in the form of the field of that name (W3C Trace Context).
    case traceparent
    /// A variable of the virtual user, by its number among a scenario's variables.
    case variable(Int)
    indirect case escaped(TemplateValue, Escape)

    /// The kinds of strings that have an escape syntax.
    package enum Escape: String, Hashable, Sendable {
        /// A string of JSON (RFC 8259 §7).
        case json
        /// A name or value of a form (application/x-www-form-urlencoded).
        case form
    }

    /// Whether it depends on how many requests were sent before.
    var isNumbered: Bool {
        switch self {
        case .counter, .line: true
        case .fixed, .random, .hex, .text, .uuid, .randomLine, .thread, .user, .time, .traceparent, .variable: false
        case .escaped(let value, _): value.isNumbered
        }
    }

    /// The longest value. A longer one belongs in a body file.
    package static let longest: UInt64 = 65_536

    package static let names =
        "counter, counter:FROM, random:LOW-HIGH, hex:N, text:N, uuid, line:FILE, random-line:FILE, thread, user, time, "
        + "traceparent"

    package init(_ text: String) throws(UsageError) {
        let parts = text.parts(at: ":", most: 2).map { $0.trimmed }
        guard parts[0].isASCII else { throw .unknown(text) }
        let argument = parts.count == 2 ? parts[1] : nil
        switch (parts[0], argument) {
        case ("counter", nil): self = .counter(from: 0)
        case ("counter", let from?): self = .counter(from: try Self.number(from, text))
        case ("random", let range?):
            let ends = range.parts(at: "-").map(String.init)
            guard ends.count == 2 else { throw .unknown(text) }
            let (low, high) = (try Self.number(ends[0], text), try Self.number(ends[1], text))
            guard low <= high else { throw .unknown(text) }
            self = .random(low, high)
        case ("hex", let count?): self = .hex(try Self.length(count, text))
        case ("text", let count?): self = .text(try Self.length(count, text))
        case ("uuid", nil): self = .uuid
        case ("line", let path?): self = .line(try TemplateLines(path))
        case ("random-line", let path?): self = .randomLine(try TemplateLines(path))
        case ("thread", nil): self = .thread
        case ("user", nil): self = .user
        case ("time", nil): self = .time
        case ("traceparent", nil): self = .traceparent
        default: throw .unknown(text)
        }
    }

    private static func number(_ text: String, _ all: String) throws(UsageError) -> UInt64 {
        guard let number = UInt64(text) else { throw .unknown(all) }
        return number
    }

    private static func length(_ text: String, _ all: String) throws(UsageError) -> Int {
        guard let number = UInt64(text), (1...longest).contains(number) else { throw .unknown(all) }
        return Int(number)
    }
}

/// A file's lines, octet for octet, read once and shared by all threads. A byte order mark, carriage returns before
/// line feeds, and empty lines are left out.
package struct TemplateLines: Hashable, Sendable {
    package let path: String
    package let lines: [[UInt8]]

    package init(_ path: String) throws(UsageError) {
        self.path = path
        var bytes = try readFile(path)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        lines = bytes.split(separator: 0x0A).map { Array($0.last == 0x0D ? $0.dropLast() : $0) }.filter { !$0.isEmpty }
        guard !lines.isEmpty else { throw .empty(path) }
    }

    package static func == (left: TemplateLines, right: TemplateLines) -> Bool { left.path == right.path }
    package func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension UsageError {
    static func mark(_ mark: String) -> Self { Self("\(mark) may not stand in a text: volley marks places with it") }

    static func unknown(_ text: String) -> Self { Self("{{\(oneLine(text))}} is unknown: use \(TemplateValue.names)") }

    static func empty(_ path: String) -> Self { Self("\(quoted(path)) has no line in it") }
}
