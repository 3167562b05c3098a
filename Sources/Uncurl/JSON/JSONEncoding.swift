public import URLLoading

/// How parameters become a JSON text.
public struct JSONEncoding: Sendable {
    /// Whether the text has line ends and indentation.
    public var isPretty = false
    /// Whether names are written in alphabetical order. Otherwise they keep the given order.
    public var sortsKeys = false
    /// Whether `/` is written as `\/`, for texts inside HTML.
    public var escapesSlashes = false
    /// How names are spelled.
    public var keys = KeyStyle.asGiven
    /// How dates are written.
    public var dates = DateStyle.iso8601
    /// How bytes are written.
    public var data = DataStyle.base64

    /// Compact text with names as given, dates in ISO 8601 and bytes in Base64.
    public init() {}

    /// The parameters as a JSON text in UTF-8. Any value makes a text, not only objects and arrays (RFC 8259 §2).
    ///
    /// - Throws: ``ParameterFailure`` for a number that is not finite, for nesting beyond ``Parameters/maximumDepth``,
    ///   or with the error of a style.
    public func data(_ parameters: Parameters) throws(ParameterFailure) -> Data {
        var writer = JSONWriter(options: self)
        try writer.write(parameters, depth: 0)
        return Data(writer.octets)
    }
}

/// Writes one text.
struct JSONWriter {
    private let options: JSONEncoding
    private(set) var octets: [UInt8] = []
    /// The way to the value that is being written, which errors name.
    private var path: [Step] = []

    private enum Step {
        case member(String)
        case element(Int)
        /// An element of a set.
        case anyElement
    }

    init(options: JSONEncoding) {
        self.options = options
    }

    mutating func write(_ value: Parameters, depth: Int) throws(ParameterFailure) {
        guard depth <= Parameters.maximumDepth else {
            throw ParameterFailure(.tooDeep(limit: Parameters.maximumDepth))
        }
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(String(value))
        case .unsigned(let value): append(String(value))
        case .double(let value): try number(value)
        case .decimal(let value):
            guard value.isFinite else { throw ParameterFailure(.notFinite(path: place, .nan)) }
            append(value.description)
        case .string(let value): string(value)
        case .data(let value): string(try options.data.text(value))
        case .date(let value):
            switch try options.dates.outcome(value, at: place) {
            case .text(let text): string(text)
            case .number(let seconds): try number(seconds)
            }
        case .array(let elements): try array(elements, depth: depth)
        case .set(let elements): try set(elements, depth: depth)
        case .keyed(let fields): try object(fields, depth: depth)
        }
    }

    /// The way to the value, such as `a[1].b`.
    private var place: String {
        path.reduce(into: "") { text, step in
            switch step {
            case .member(let name): text += text.isEmpty ? name : ".\(name)"
            case .element(let index): text += "[\(index)]"
            case .anyElement: text += "[]"
            }
        }
    }

    private mutating func write(_ value: Parameters, _ step: Step, depth: Int) throws(ParameterFailure) {
        path.append(step)
        try write(value, depth: depth)
        path.removeLast()
    }

    private mutating func number(_ value: Double) throws(ParameterFailure) {
        guard let text = NumberText.of(value) else { throw ParameterFailure(.notFinite(path: place, value)) }
        append(text)
    }

    private mutating func array(_ elements: [Parameters], depth: Int) throws(ParameterFailure) {
        octets.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            separate(isFirst: index == 0, depth: depth + 1)
            try write(element, .element(index), depth: depth + 1)
        }
        end(UInt8(ascii: "]"), isEmpty: elements.isEmpty, depth: depth)
    }

    /// Writes the elements sorted by their JSON text: the order of a `Set` differs from process to process.
    private mutating func set(_ elements: [Parameters], depth: Int) throws(ParameterFailure) {
        var (before, written): ([UInt8], [[UInt8]]) = ([], [])
        swap(&before, &octets)
        for element in elements {
            try write(element, .anyElement, depth: depth + 1)
            written.append(octets)
            octets = []
        }
        octets = before
        octets.append(UInt8(ascii: "["))
        let sorted = written.sorted { $0.lexicographicallyPrecedes($1) }
        for (index, element) in sorted.enumerated() {
            separate(isFirst: index == 0, depth: depth + 1)
            octets += element
        }
        end(UInt8(ascii: "]"), isEmpty: elements.isEmpty, depth: depth)
    }

    private mutating func object(_ fields: KeyedParameters, depth: Int) throws(ParameterFailure) {
        var members = fields.map { (name: options.keys.spelled($0.name), value: $0.value) }
        if options.sortsKeys { members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } }
        octets.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            separate(isFirst: index == 0, depth: depth + 1)
            string(member.name)
            append(options.isPretty ? ": " : ":")
            try write(member.value, .member(member.name), depth: depth + 1)
        }
        end(UInt8(ascii: "}"), isEmpty: members.isEmpty, depth: depth)
    }

    private mutating func separate(isFirst: Bool, depth: Int) {
        if !isFirst { octets.append(UInt8(ascii: ",")) }
        if options.isPretty { newLine(depth) }
    }

    private mutating func end(_ bracket: UInt8, isEmpty: Bool, depth: Int) {
        if options.isPretty, !isEmpty { newLine(depth) }
        octets.append(bracket)
    }

    private mutating func newLine(_ depth: Int) {
        octets.append(UInt8(ascii: "\n"))
        octets += Array(repeating: UInt8(ascii: " "), count: depth * 2)
    }

    mutating func append(_ text: String) { octets += text.utf8 }

    /// RFC 8259 §7: quotation marks, reverse solidus and controls are escaped, the rest is UTF-8.
    mutating func string(_ text: String) {
        octets.append(UInt8(ascii: "\""))
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): octets += [UInt8(ascii: "\\"), octet]
            case UInt8(ascii: "/") where options.escapesSlashes: octets += [UInt8(ascii: "\\"), octet]
            case 0x0A: append("\\n")
            case 0x0D: append("\\r")
            case 0x09: append("\\t")
            case 0x08: append("\\b")
            case 0x0C: append("\\f")
            case 0..<0x20: append((octet < 0x10 ? "\\u000" : "\\u00") + String(octet, radix: 16))
            default: octets.append(octet)
            }
        }
        octets.append(UInt8(ascii: "\""))
    }
}
