internal import Foundation

/// Reads JSON values from octets.
enum JSONText {
    /// - Parameter charset: the charset of the content type. A JSON text is UTF-8 by its standard, whatever the server
    ///   claims, so the charset counts only where the octets are neither UTF-8 nor UTF-16 nor UTF-32.
    static func value(of data: Data, charset: String.Encoding?) throws(JSONFailure) -> JSONValue {
        let octets = try utf8(data, charset: charset)
        return try JSONParser.value(of: octets.span)
    }

    /// The text in UTF-8 without a byte order mark. Octets that are that already are returned as they are.
    static func utf8(_ data: Data, charset: String.Encoding?) throws(JSONFailure) -> Data {
        let encoding = TextEncoding.ofJSON(data, charset: charset)
        if encoding == .utf8 { return TextEncoding.withoutMark(data) }
        guard let text = TextEncoding.text(data, encoding) else { throw JSONFailure(reason: .invalidUTF8, offset: 0) }
        return Data(text.utf8)
    }

    static func octets(of value: JSONValue) -> [UInt8] {
        var writer = JSONWriter(options: JSONEncoding())
        write(value, &writer)
        return writer.octets
    }

    private static func write(_ value: JSONValue, _ writer: inout JSONWriter) {
        switch value {
        case .null: writer.append("null")
        case .bool(let value): writer.append(value ? "true" : "false")
        case .number(let number): writer.append(number.description)
        case .string(let text): writer.string(text)
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                writer.append(index == 0 ? "[" : ",")
                write(element, &writer)
            }
            writer.append(elements.isEmpty ? "[]" : "]")
        case .object(let members):
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                writer.append(index == 0 ? "{" : ",")
                writer.string(member.key)
                writer.append(":")
                write(member.value, &writer)
            }
            writer.append(members.isEmpty ? "{}" : "}")
        }
    }
}
