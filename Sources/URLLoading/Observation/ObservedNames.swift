package import FoundationEssentials

/// The names and values by which logs, metrics and traces describe requests. Uncurl's adapters use them too.
package enum ObservedNames {
    /// Returns a method of RFC 9110 §9 or RFC 5789 as it is, and `_OTHER` for any other, as OpenTelemetry's conventions
    /// want: a label has few values.
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

    /// The URL's port, or its scheme's.
    package static func port(_ url: URL) -> Int {
        url.port ?? (["https", "wss"].contains(url.scheme?.lowercased()) ? 443 : 80)
    }
}
