public import HTTP1

/// What a request that changes things makes of what is stored (RFC 9111 §4.4).
public enum CacheInvalidation {
    /// RFC 9110 §9.2.1. A method that is not known may do anything.
    public static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// The URLs whose stored responses are no longer good after this response. None for an error: nothing has changed.
    public static func urls(method: String, url: WebURL, status: Int, response: HTTPFields) -> [WebURL] {
        guard !isSafe(method), (200...399).contains(status) else { return [] }
        var urls = [url]
        for name in ["Location", "Content-Location"] {
            // No origin may clear what another one has stored.
            guard let value = response[name], case let other = resolve(value, against: url), other.text != url.text,
                other.origin == url.origin
            else { continue }
            urls.append(other)
        }
        return urls
    }

    private static func resolve(_ value: String, against url: WebURL) -> WebURL {
        WebURL(URIReference(Array(value.utf8)).resolved(against: url.reference).percentEncoded)
    }
}
