package import FoundationEssentials

// The values by which logs, metrics and traces describe requests. Uncurl's adapters use them too.

extension URLRequest {
    /// A method of RFC 9110 §9 or RFC 5789 as it is, and `_OTHER` for any other, as OpenTelemetry's conventions want: a
    /// label has few values.
    var observedMethod: String {
        let method = httpMethod ?? "GET"
        return Self.observedMethods.contains(method) ? method : "_OTHER"
    }

    private static let observedMethods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]
}

extension URL {
    /// Returns the URL without user, password and fragment. Its query, which often holds secrets, is shown only if it
    /// is asked for.
    package func observed(showsQuery: Bool = false) -> String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "" }
        (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
        if parts.percentEncodedQuery != nil, !showsQuery { parts.percentEncodedQuery = "REDACTED" }
        return parts.string ?? ""
    }

    /// The port, or the scheme's.
    var observedPort: Int { port ?? (["https", "wss"].contains(scheme?.lowercased()) ? 443 : 80) }
}
