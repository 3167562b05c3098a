internal import Foundation
internal import HTTPSemantics

/// The cookies in FoundationNetworking's file, at the path that the shared storage's file has now: a property list of
/// the cookies' properties by `domain`, `path` and `name`. It is read once: the next change writes our own file in its
/// place.
enum FoundationCookieFile {
    /// A cookie as FoundationNetworking writes it. It writes only those that outlive the process.
    private struct Stored: Decodable {
        private enum CodingKeys: String, CodingKey {
            case name = "Name"
            case value = "Value"
            case domain = "Domain"
            case path = "Path"
            case expires = "Expires"
            case isSecure = "Secure"
            case version = "Version"
            case comment = "Comment"
            case commentURL = "CommentURL"
            case ports = "Port"
        }

        let name: String
        let value: String
        let domain: String
        let path: String
        /// In seconds since 1970.
        let expires: Double
        let isSecure: Bool
        let version: Int
        let comment: String?
        let commentURL: String?
        let ports: [Int]?

        var properties: CookieProperties {
            var properties: [HTTPCookiePropertyKey: Any] = [
                .name: name, .value: value, .domain: domain, .path: path, .secure: isSecure, .version: version,
                .expires: Date(timeIntervalSince1970: expires), .discard: false,
            ]
            properties[.comment] = comment
            properties[.commentURL] = commentURL
            properties[.port] = ports?.map { NSNumber(value: $0) }
            return CookieProperties(properties)
        }
    }

    /// An element of the list; nil if it is not a cookie that can be read.
    private struct Element: Decodable {
        let stored: Stored?

        init(from decoder: any Decoder) throws { stored = try? Stored(from: decoder) }
    }

    /// Returns the cookies; nil if the file is not a property list in XML, which FoundationNetworking writes. A cookie
    /// that cannot be read is left out.
    static func decode(_ octets: [UInt8], now: Double) -> [CookieJar.Entry]? {
        guard let listed = XMLPropertyList.decode([String: Element].self, from: Data(octets)) else { return nil }
        return listed.sorted { $0.key < $1.key }.compactMap { _, element in
            element.stored?.properties.cookie(now: now).map {
                CookieJar.Entry(cookie: $0, creation: now, lastAccess: now)
            }
        }
    }
}
