internal import Foundation
internal import UncurlText

/// Reads JSON values from octets.
enum JSONText {
    /// - Parameter charset: the charset of the content type. A JSON text is UTF-8 by its standard, whatever the server
    ///   claims, so the charset counts only where the octets are neither UTF-8 nor UTF-16 nor UTF-32.
    static func value(of data: Data, charset: String.Encoding?) throws(JSONFailure) -> JSONValue {
        let text = try utf8(data, charset: charset)
        do throws(JSONReader.Problem) {
            return JSONValue(try JSONReader.read(text.span))
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
        let encoding = TextEncoding.ofJSON(data, charset: charset)
        if encoding == .utf8 { return TextEncoding.withoutMark(data) }
        guard let text = TextEncoding.text(data, encoding) else {
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
