internal import Foundation

/// Property lists that another process may have written. They are in XML: Foundation's readers of binary property lists
/// trap on some damaged ones.
enum XMLPropertyList {
    /// Nil for octets that are no property list in XML, or not one of that type.
    static func decode<Value: Decodable>(_ type: Value.Type, from octets: Data) -> Value? {
        guard octets.starts(with: "<?xml".utf8) else { return nil }
        return try? PropertyListDecoder().decode(type, from: octets)
    }

    static func encode(_ value: some Encodable) -> Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        return try? encoder.encode(value)
    }
}
