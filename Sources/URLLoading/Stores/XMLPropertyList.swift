internal import Foundation
internal import UncurlText

/// Property lists that another process may have written. They are in XML, and read by `PropertyListSerialization`:
/// Foundation's readers of binary ones, and its `PropertyListDecoder`, trap on some damaged lists.
enum XMLPropertyList {
    /// Another encoding could hide combining marks.
    private static let start = Array(#"<?xml version="1.0" encoding="UTF-8"?>"#.utf8)

    /// Nil for octets that are no dictionary in XML in UTF-8, and for more than ``MarkRun/limit`` combining marks in a
    /// row: Foundation's dictionaries take long for such keys.
    static func read(_ octets: Data) -> [String: Any]? {
        guard octets.starts(with: start), !MarkRun.isTooLong(inText: octets.span) else { return nil }
        return try? unsafe PropertyListSerialization.propertyList(from: octets, format: nil) as? [String: Any]
    }

    // MARK: With a checksum

    private static let sealStart = Array("<!-- crc32 ".utf8)
    private static let sealEnd = Array(" -->\n".utf8)
    private static let sealLength = sealStart.count + ContentSum.digitCount + sealEnd.count

    /// Writes a list and a comment with the checksum of its octets.
    static func sealed(_ list: [String: Any]) -> Data? {
        (try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)).map(sealed)
    }

    static func sealed(_ octets: Data) -> Data { octets + seal(of: octets) }

    private static func seal(of octets: Data) -> [UInt8] { sealStart + ContentSum.digits(of: octets.span) + sealEnd }

    /// Nil for a list that was changed since ``sealed(_:)-([String:Any])`` wrote it, and for all that ``read(_:)``
    /// refuses. A list without a checksum is read if it has none of this library's keys: other libraries write such.
    static func readSealed(_ octets: Data) -> [String: Any]? {
        let end = octets.suffix(sealLength)
        guard end.starts(with: sealStart) else {
            guard let list = read(octets), !list.keys.contains(where: { $0.hasPrefix("URLLoading") }) else {
                return nil
            }
            return list
        }
        let list = Data(octets.dropLast(sealLength))
        return seal(of: list).elementsEqual(end) ? read(list) : nil
    }
}
