internal import Foundation
internal import UncurlSemantics

/// The cookies in FoundationNetworking's file, at the path that the shared storage's file has now: a property list of
/// the cookies' properties by `domain`, `path` and `name`. It is read once: the next change writes our own file in its
/// place.
enum FoundationCookieFile {
    /// The properties of a cookie as FoundationNetworking writes it; nil for another dictionary. It writes only cookies
    /// that outlive the process.
    private static func properties(_ written: [String: Any]) -> CookieProperties? {
        guard let name = written["Name"] as? String, let value = written["Value"] as? String,
            let domain = written["Domain"] as? String, let path = written["Path"] as? String,
            let isSecure = written["Secure"] as? Bool, let version = written["Version"] as? Int,
            // In seconds since 1970.
            let expires = written["Expires"] as? Double
        else { return nil }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domain, .path: path, .secure: isSecure, .version: version,
            .expires: Date(timeIntervalSince1970: expires), .discard: false,
        ]
        properties[.comment] = written["Comment"] as? String
        properties[.commentURL] = written["CommentURL"] as? String
        properties[.port] = (written["Port"] as? [Int])?.map { NSNumber(value: $0) }
        return CookieProperties(properties)
    }

    /// Returns the cookies; nil if the file is not a property list in XML, which FoundationNetworking writes. A cookie
    /// that cannot be read is left out.
    static func decode(_ octets: [UInt8], now: Double) -> [CookieJar.Entry]? {
        guard let listed = XMLPropertyList.read(Data(octets)) else { return nil }
        return listed.sorted { $0.key < $1.key }.compactMap { _, written in
            (written as? [String: Any]).flatMap(properties)?.cookie(now: now).map {
                CookieJar.Entry(cookie: $0, creation: now, lastAccess: now)
            }
        }
    }
}
