internal import Foundation

/// Property lists that another process may have written. They are in XML, and read by `PropertyListSerialization`:
/// Foundation's readers of binary ones, and its `PropertyListDecoder`, trap on some damaged lists.
enum XMLPropertyList {
    /// Nil for octets that are no dictionary in XML.
    static func read(_ octets: Data) -> [String: Any]? {
        guard octets.starts(with: "<?xml".utf8) else { return nil }
        return try? unsafe PropertyListSerialization.propertyList(from: octets, format: nil) as? [String: Any]
    }

    static func write(_ list: [String: Any]) -> Data? {
        try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    }
}
