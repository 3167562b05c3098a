internal import Foundation
public import URLLoading
internal import UncurlText

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
        var text = ParametersText(options: self)
        try text.write(parameters, depth: 0)
        return Data(text.writer.octets)
    }
}

private struct ParametersText {
    let options: JSONEncoding
    private(set) var writer: JSONWriter
    /// The way to the value that is being written, which errors name.
    private var path: [Step] = []

    /// A member, or an element; an element of a set has neither name nor index.
    private typealias Step = (name: String?, index: Int?)

    init(options: JSONEncoding) {
        self.options = options
        writer = JSONWriter(levels: options.isPretty ? .max : 0, escapesSlashes: options.escapesSlashes)
    }

    mutating func write(_ value: Parameters, depth: Int) throws(ParameterFailure) {
        try Parameters.check(depth: depth)
        switch value {
        case .null: writer.word("null")
        case .bool(let value): writer.word(value ? "true" : "false")
        case .integer(let value): writer.word(String(value))
        case .unsigned(let value): writer.word(String(value))
        case .double(let value): try number(value)
        case .decimal(let value):
            guard value.isFinite else { throw ParameterFailure(.notFinite(path: place, .nan)) }
            writer.word(value.description)
        case .string(let value): writer.string(value)
        case .data(let value): writer.string(try options.data.text(value))
        case .date(let value): try write(options.dates.value(of: value, at: place), depth: depth)
        case .array(let elements):
            writer.openArray()
            for (index, element) in elements.enumerated() {
                writer.separate(isFirst: index == 0, depth: depth)
                try write(element, (nil, index), depth: depth + 1)
            }
            writer.closeArray(isEmpty: elements.isEmpty, depth: depth)
        case .set(let elements):
            let texts = try sorted(elements, depth: depth + 1)
            writer.openArray()
            for (index, text) in texts.enumerated() {
                writer.separate(isFirst: index == 0, depth: depth)
                writer.octets += text
            }
            writer.closeArray(isEmpty: texts.isEmpty, depth: depth)
        case .keyed(let fields):
            var members = fields.map { (name: options.keys.spelled($0.name), value: $0.value) }
            if options.sortsKeys { members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } }
            writer.openObject()
            for (index, member) in members.enumerated() {
                writer.separate(isFirst: index == 0, depth: depth)
                writer.name(member.name)
                try write(member.value, (member.name, nil), depth: depth + 1)
            }
            writer.closeObject(isEmpty: members.isEmpty, depth: depth)
        }
    }

    /// The way to the value, such as `a[1].b`.
    private var place: String {
        path.reduce(into: "") { text, step in
            if let name = step.name {
                text += text.isEmpty ? name : ".\(name)"
            } else {
                text += "[\(step.index.map(String.init) ?? "")]"
            }
        }
    }

    private mutating func write(_ value: Parameters, _ step: Step, depth: Int) throws(ParameterFailure) {
        path.append(step)
        try write(value, depth: depth)
        path.removeLast()
    }

    private mutating func number(_ value: Double) throws(ParameterFailure) {
        guard let text = value.shortestText else { throw ParameterFailure(.notFinite(path: place, value)) }
        writer.word(text)
    }

    /// The texts of a set's elements in the order of their octets: the order of a `Set` differs from process to
    /// process.
    private mutating func sorted(_ elements: [Parameters], depth: Int) throws(ParameterFailure) -> [[UInt8]] {
        let before = writer.octets
        var written: [[UInt8]] = []
        for element in elements {
            writer.octets = []
            try write(element, (nil, nil), depth: depth)
            written.append(writer.octets)
        }
        writer.octets = before
        return written.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

/// The error for octets that are not a JSON text (RFC 8259).
public struct JSONFailure: Error, Sendable, Hashable {
    /// What is wrong (RFC 8259).
    @frozen public enum Reason: Sendable, Hashable {
        /// The text ends inside a value.
        case unexpectedEnd
        /// An octet is not allowed at this position.
        case unexpected(octet: UInt8)
        /// A string holds octets that are not UTF-8. In a text in UTF-16 or UTF-32, the invalid octets may be anywhere.
        case invalidUTF8
        /// A backslash is followed by no known escape.
        case invalidEscape
        /// A surrogate has no partner.
        case loneSurrogate
        /// A string holds an unescaped control character (§7).
        case controlInString(UInt8)
        /// A number is malformed (§6).
        case invalidNumber
        /// A number is too large for a double.
        case numberOutOfRange
        /// Arrays and objects are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// A member's name has more combining marks in a row than the limit. Such names take quadratic time to compare.
        case tooManyMarks(limit: Int)
        /// Something other than whitespace follows the value.
        case trailingOctets
    }

    /// What is wrong.
    public let reason: Reason
    /// The position of the error, in octets of UTF-8 from the start of the text.
    public let offset: Int
    private let problem: JSONReader.Problem

    init(_ problem: JSONReader.Problem) {
        (self.problem, offset) = (problem, problem.offset)
        reason =
            switch problem.reason {
            case .unexpectedEnd: .unexpectedEnd
            case .unexpected(let octet): .unexpected(octet: octet)
            case .invalidUTF8: .invalidUTF8
            case .invalidEscape: .invalidEscape
            case .loneSurrogate: .loneSurrogate
            case .controlInString(let octet): .controlInString(octet)
            case .invalidNumber: .invalidNumber
            case .numberOutOfRange: .numberOutOfRange
            case .tooDeep(let limit): .tooDeep(limit: limit)
            case .tooManyMarks(let limit): .tooManyMarks(limit: limit)
            case .trailingOctets: .trailingOctets
            // A name that is there twice is no error here.
            case .repeatedName: .unexpected(octet: UInt8(ascii: "\""))
            }
    }
}

extension JSONFailure: CustomStringConvertible, LocalizedError {
    public var description: String {
        "\(problem)\(reason == .unexpectedEnd ? "," : "") at octet \(offset) of the JSON text"
    }
    public var errorDescription: String? { description }
}
