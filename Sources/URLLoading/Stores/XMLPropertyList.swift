internal import Foundation
internal import TextCoding

/// Property lists that another process may have written. They are in XML, and read by `PropertyListSerialization`:
/// Foundation's readers of binary ones, and its `PropertyListDecoder`, trap on some damaged lists.
enum XMLPropertyList {
    /// Another encoding could hide combining marks.
    private static let start = Array(#"<?xml version="1.0" encoding="UTF-8"?>"#.utf8)

    /// Nil for octets that are no dictionary in XML in UTF-8, and for more than ``MarkRun/limit`` combining marks in a
    /// row: Foundation's dictionaries take long for such keys.
    static func read(_ octets: Data) -> [String: Any]? {
        guard octets.starts(with: start), !MarkRun.isTooLong(inPropertyList: octets.span) else { return nil }
        return try? unsafe PropertyListSerialization.propertyList(from: octets, format: nil) as? [String: Any]
    }

    static func write(_ list: [String: Any]) -> Data? {
        try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    }
}
