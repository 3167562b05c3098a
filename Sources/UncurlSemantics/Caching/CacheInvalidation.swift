public import UncurlHTTP1

/// Which stored responses a request that changes things invalidates (RFC 9111 §4.4).
public enum CacheInvalidation {
    /// Whether a method is safe (RFC 9110 §9.2.1). An unknown method may do anything.
    public static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Returns the URLs whose stored responses are no longer good after this response. None for an error: nothing has
    /// changed.
    public static func urls(method: String, url: WebURL, status: Int, response: HTTPFields) -> [WebURL] {
        guard !isSafe(method), (200...399).contains(status) else { return [] }
        var urls = [url]
        for name in ["Location", "Content-Location"] {
            // No origin may invalidate what another one has stored.
            guard let value = response.octets(of: name).first, case let other = resolve(value, against: url),
                other.origin == url.origin,
                !other.text.utf8.elementsEqual(url.text.utf8)
            else { continue }
            urls.append(other)
        }
        return urls
    }

    private static func resolve(_ value: ArraySlice<UInt8>, against url: WebURL) -> WebURL {
        WebURL(URIReference(Array(value)).resolved(against: url.reference).percentEncoded)
    }
}
