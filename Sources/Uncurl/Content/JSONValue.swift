internal import Foundation
public import URLLoading
internal import UncurlText

/// The value of a JSON text. Two objects are equal whatever the order of their members.
public indirect enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number. An integer has all its digits.
    case number(JSONNumber)
    /// A string with its escapes decoded.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object. Of several members with one name, the last one counts.
    case object([String: JSONValue])

    /// Reads a text in UTF-8, UTF-16 or UTF-32 (RFC 8259), with up to 512 levels of nesting. A member's name with more
    /// than 128 combining marks in a row is refused.
    ///
    /// - Throws: ``JSONFailure``
    public init(reading data: Data) throws(JSONFailure) {
        try self.init(reading: data, charset: nil)
    }

    /// Whether the value is `null`.
    public var isNull: Bool { self == .null }

    /// The Boolean; nil for any other value.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number; nil for any other value.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number as `Int`; nil for a fraction, for a number that does not fit, and for any other value.
    public var int: Int? { number?.int64.flatMap(Int.init(exactly:)) }
    /// The number where it is whole and fits; nil otherwise.
    public var int64: Int64? { number?.int64 }
    /// The number where it is whole and fits; nil otherwise.
    public var uint64: UInt64? { number?.uint64 }
    /// The number as the nearest double; nil for any other value.
    public var double: Double? { number?.double }
    /// The number as a decimal, exact for up to 38 digits; nil for any other value.
    public var decimal: Decimal? { number?.decimal }

    /// The string; nil for any other value.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements; nil for any other value.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members; nil for any other value.
    public var object: [String: JSONValue]? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of this name; nil where there is none or where this is no object. Setting nil removes the member.
    /// Setting has no effect where this is no object.
    public subscript(name: String) -> JSONValue? {
        get { object?[name] }
        set {
            guard var members = object else { return }
            members[name] = newValue
            self = .object(members)
        }
    }

    /// The element at this index; nil outside the array or where this is no array.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// The value without members and elements that are null, at every depth. A null by itself stays.
    public var removingNulls: JSONValue {
        switch self {
        case .null, .bool, .number, .string: self
        case .array(let elements): .array(elements.filter { !$0.isNull }.map(\.removingNulls))
        case .object(let members): .object(members.filter { !$0.value.isNull }.mapValues(\.removingNulls))
        }
    }

    /// The value as `JSONSerialization` returns it: `NSNull`, `NSNumber`, `String`, `[Any]`, `[String: Any]`. Integers
    /// beyond 64 bits are `NSDecimalNumber`s.
    public var foundationObject: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): NSNumber(value: value)
        case .number(let number): number.foundationObject
        case .string(let value): value
        case .array(let elements): elements.map(\.foundationObject)
        case .object(let members): members.mapValues(\.foundationObject)
        }
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .number(.integer(value)) }
    public init(floatLiteral value: Double) { self = .number(.floating(value)) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Of several values with one name, the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as a JSON text, with names in alphabetical order.
    public var description: String { tree.line() }

    /// The value as a JSON text in UTF-8, with names in alphabetical order.
    public var data: Data { Data(description.utf8) }
}

extension JSONValue: Encodable {
    /// Encodes the value. Encoders have no integers beyond 64 bits, so these are encoded as a `Decimal`.
    ///
    /// - Throws: `EncodingError` for an integer that no `Decimal` holds: it has more than 38 digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(.integer(let value)): try container.encode(value)
        case .number(.unsigned(let value)): try container.encode(value)
        case .number(.floating(let value)): try container.encode(value)
        case .number(.digits(let digits)):
            guard let decimal = Decimal(string: digits), decimal.description == digits else {
                let words = "\(digits) has more digits than a Decimal"
                throw EncodingError.invalidValue(
                    self,
                    EncodingError.Context(codingPath: container.codingPath, debugDescription: words)
                )
            }
            try container.encode(decimal)
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue: Decodable {
    /// Decodes a value of any kind. Integers are exact up to 38 digits, as many as a `Decimal` holds; beyond, a number
    /// is ``JSONNumber/floating(_:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .number(.integer(value))
        } else if let value = try? container.decode(UInt64.self) {
            self = .number(.unsigned(value))
        } else if let value = try? container.decode(Double.self) {
            self = .number(Self.largeInteger(value, container).map { .digits($0) } ?? .floating(value))
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// The digits of a number beyond 64 bits; nil if it has a fraction, or more digits than a `Decimal`.
    private static func largeInteger(_ value: Double, _ container: any SingleValueDecodingContainer) -> String? {
        guard abs(value) >= 0x1p63, let text = try? container.decode(Decimal.self).description else { return nil }
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        return digits.count <= 38 && digits.allSatisfy { (0x30...0x39).contains($0) } ? text : nil
    }
}

/// A number of a JSON text. Integers are exact, however many digits they have.
@frozen public enum JSONNumber: Sendable, Hashable {
    /// An integer that fits 64 bits with a sign.
    case integer(Int64)
    /// A positive integer that fits only 64 bits without a sign.
    case unsigned(UInt64)
    /// An integer beyond 64 bits, as its digits.
    case digits(String)
    /// A number with a fraction or an exponent.
    case floating(Double)

    /// The number as `Int64`; nil where it does not fit exactly.
    public var int64: Int64? {
        switch self {
        case .integer(let value): value
        case .unsigned, .digits: nil
        case .floating(let value): Int64(exactly: value)
        }
    }

    /// The number as `UInt64`; nil where it does not fit exactly.
    public var uint64: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .digits: nil
        case .floating(let value): UInt64(exactly: value)
        }
    }

    /// The nearest double.
    public var double: Double {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .digits(let digits): Double(digits) ?? .infinity
        case .floating(let value): value
        }
    }

    /// The number as a decimal, exact for up to 38 digits.
    public var decimal: Decimal {
        switch self {
        case .integer(let value): Decimal(value)
        case .unsigned(let value): Decimal(value)
        case .digits(let digits): Decimal(string: digits) ?? .nan
        // Made from the shortest digits: 0.1 stays 0.1.
        case .floating(let value): Decimal(string: value.description) ?? .nan
        }
    }

    var foundationObject: NSNumber {
        switch self {
        case .integer(let value): NSNumber(value: value)
        case .unsigned(let value): NSNumber(value: value)
        case .digits: NSDecimalNumber(decimal: decimal)
        case .floating(let value): NSNumber(value: value)
        }
    }
}

extension JSONNumber: CustomStringConvertible {
    public var description: String {
        switch self {
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .digits(let digits): digits
        case .floating(let value): value.description
        }
    }
}

extension JSONValue {
    /// - Parameter charset: the charset of the content type. A JSON text is UTF-8 by its standard, whatever the server
    ///   claims, so the charset counts only where the octets are neither UTF-8 nor UTF-16 nor UTF-32.
    init(reading data: Data, charset: String.Encoding?) throws(JSONFailure) {
        let text = try Self.utf8(data, charset: charset)
        do throws(JSONReader.Problem) {
            self.init(try JSONReader.read(text.span))
        } catch {
            throw JSONFailure(error)
        }
    }

    /// Throws for a text in UTF-8 that is no JSON, or has a name with too many combining marks in a row.
    static func check(_ text: Data) throws(JSONFailure) {
        do throws(JSONReader.Problem) {
            try JSONReader.check(text.span)
        } catch {
            throw JSONFailure(error)
        }
    }

    /// The text in UTF-8 without a byte order mark. Octets that are that already are returned as they are.
    static func utf8(_ data: Data, charset: String.Encoding?) throws(JSONFailure) -> Data {
        let encoding = String.Encoding.ofJSON(data, charset: charset)
        if encoding == .utf8 { return String.Encoding.withoutMark(data) }
        guard let text = encoding.text(data) else {
            throw JSONFailure(JSONReader.Problem(.invalidUTF8, at: 0))
        }
        return Data(text.utf8)
    }
}

extension JSONValue {
    init(_ tree: JSONTree) {
        switch tree {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .number(Int64(exactly: value).map { .integer($0) } ?? .unsigned(value))
        case .number(let digits): self = .number(JSONNumber(digits))
        case .string(let text): self = .string(text)
        case .array(let elements): self = .array(elements.map { JSONValue($0) })
        case .object(let members):
            self = .object(Dictionary(members.map { ($0, JSONValue($1)) }, uniquingKeysWith: { $1 }))
        }
    }

    /// Members are in the order of their names.
    var tree: JSONTree {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let number): .number(number.description)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.tree))
        case .object(let members): .object(members.sorted { $0.key < $1.key }.map { ($0, $1.tree) })
        }
    }
}

extension JSONNumber {
    /// - Parameter digits: a number of a JSON text that is below zero, has a fraction or an exponent, or more than 64
    ///   bits.
    fileprivate init(_ digits: String) {
        let isInteger = digits.utf8.allSatisfy { $0 == UInt8(ascii: "-") || 0x30...0x39 ~= $0 }
        if isInteger {
            self = Int64(digits).map { .integer($0) } ?? .digits(digits)
        } else {
            self = .floating(Double(digits) ?? .nan)
        }
    }
}
