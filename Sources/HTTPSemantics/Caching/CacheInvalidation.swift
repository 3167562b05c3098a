internal import Foundation
internal import HTTP1

/// What a request that changes things makes of what is stored (RFC 9111 §4.4).
enum CacheInvalidation {
    /// RFC 9110 §9.2.1. A method that is not known may do anything.
    static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// The URLs whose stored responses are no longer good after this response. None for an error: nothing has changed.
    static func urls(method: String, url: URL, status: Int, response: HTTPFields) -> [URL] {
        guard !isSafe(method), (200...399).contains(status) else { return [] }
        var urls = [url]
        for name in ["Location", "Content-Location"] {
            // Nobody may clear what others have stored.
            guard let value = response[name], let other = resolve(value, against: url), other != url,
                WebOrigin(other) == WebOrigin(url)
            else { continue }
            urls.append(other)
        }
        return urls
    }

    private static func resolve(_ value: String, against url: URL) -> URL? {
        let base = URIReference(Array(url.absoluteString.utf8))
        let target = URIReference(Array(value.utf8)).resolved(against: base)
        return URL(string: String(decoding: target.bytes, as: UTF8.self))
    }
}
