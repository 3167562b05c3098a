package import FoundationEssentials

/// What logs, metrics and traces say of requests, here and in the room above.
package enum ObservedNames {
    /// The methods of RFC 9110 §9 and RFC 5789. A label has few values, so any other method is `_OTHER`, as in
    /// OpenTelemetry's conventions.
    package static func method(_ method: String?) -> String {
        let method = method ?? "GET"
        return methods.contains(method) ? method : "_OTHER"
    }

    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]

    /// The URL without user, password and fragment. Its query, which often holds secrets, is shown only if it is asked
    /// for.
    package static func url(_ url: URL?, showsQuery: Bool = false) -> String {
        guard let url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
        (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
        if parts.percentEncodedQuery != nil, !showsQuery { parts.percentEncodedQuery = "REDACTED" }
        return parts.string ?? ""
    }

    /// The port that the URL leads to.
    package static func port(_ url: URL) -> Int { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }
}
