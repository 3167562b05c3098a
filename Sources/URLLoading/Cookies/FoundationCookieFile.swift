internal import Foundation
internal import HTTPSemantics

/// The cookies in FoundationNetworking's file, at the path that the shared storage's file has now: a property list of
/// the cookies' properties by `path`, `domain` and `name`. It is read once: the next change writes our own file in its
/// place.
enum FoundationCookieFile {
    /// One property of a cookie.
    private enum Value: Decodable {
        case text(String)
        case flag(Bool)
        case number(Int)
        case date(Date)
        /// A kind of value that no property of a cookie has.
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let date = try? container.decode(Date.self) {
                self = .date(date)
            } else if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .other
            }
        }

        var any: Any? {
            switch self {
            case .text(let text): text
            case .flag(let flag): flag
            case .number(let number): number
            case .date(let date): date
            case .other: nil
            }
        }
    }

    /// Returns the cookies; nil if the file is not a property list. A cookie that cannot be read is left out.
    static func decode(_ octets: [UInt8], now: Double) -> [CookieJar.Entry]? {
        guard octets.starts(with: "<?xml".utf8) || octets.starts(with: "bplist".utf8),
            let listed = try? PropertyListDecoder().decode([String: [String: Value]].self, from: Data(octets))
        else { return nil }
        return listed.sorted { $0.key < $1.key }.compactMap { _, values in
            let pairs = values.compactMap { name, value in value.any.map { (HTTPCookiePropertyKey(rawValue: name), $0) }
            }
            let properties = Dictionary(pairs) { first, _ in first }
            guard let cookie = CookieProperties(properties).cookie(now: now), cookie.isPersistent else { return nil }
            let created = (properties[.created] as? Date)?.timeIntervalSince1970 ?? now
            return CookieJar.Entry(cookie: cookie, creation: created, lastAccess: now)
        }
    }
}
