internal import Foundation
internal import UncurlReactor
internal import UncurlSemantics

/// The file of a ``CookieStore``.
typealias CookieFile = SharedFile<[CookieJar.Entry]>

extension SharedFile<[CookieJar.Entry]> {
    init(path: String) {
        self.init(path: path, kind: .cookies, limit: CookieStore.longestFile) {
            Self.foundation($0, now: CookieStore.now)
        }
    }

    /// Returns the cookies in FoundationNetworking's file, at the path that the shared storage's file has now: a
    /// property list of the cookies' properties by `domain`, `path` and `name`. It is read once: the next change writes
    /// our own file in its place. Nil if the file is not a property list in XML, which FoundationNetworking writes. A
    /// cookie that cannot be read is left out.
    static func foundation(_ octets: [UInt8], now: Double) -> [CookieJar.Entry]? {
        Data(octets).xmlPropertyList?.sorted { $0.key < $1.key }.compactMap { _, written in
            (written as? [String: Any]).flatMap(properties)?.cookie(now: now).map {
                CookieJar.Entry(cookie: $0, creation: now, lastAccess: now)
            }
        }
    }

    /// The properties of a cookie as FoundationNetworking writes it; nil for another dictionary. It writes only cookies
    /// that outlive the process.
    private static func properties(_ written: [String: Any]) -> [HTTPCookiePropertyKey: Any]? {
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
        return properties
    }
}

extension CookieJar.Entry: Kept {
    static func keep(_ entry: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        try record.rows(of: entry, Self.init, \.cookie, \.creation, \.lastAccess)
    }
}

extension Cookie: Kept {
    static func keep(_ cookie: Cookie?, in record: inout StoreRecord) throws(Errno) -> Cookie {
        var kept = Cookie(
            name: try record.row(cookie?.name),
            value: try record.row(cookie?.value),
            domain: try record.row(cookie?.domain),
            isHostOnly: try record.row(cookie?.isHostOnly),
            path: try record.row(cookie?.path),
            expires: try record.row(optional: cookie?.expires)
        )
        try record.rows(of: cookie, in: &kept, \.isSecure, \.isHTTPOnly)
        kept.sameSite = try record.row(optional: cookie?.sameSite?.rawValue).flatMap { SameSite(rawValue: $0) }
        try record.rows(of: cookie, in: &kept, \.version, \.comment, \.commentURL, \.ports, \.isDiscarded)
        // Behind the name and the value, which reset it.
        kept.pair = try record.row(optional: cookie?.pair?[...]).map { Array($0) }
        return kept
    }
}
