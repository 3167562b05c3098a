public import UncurlHTTP1

/// Whether a response redirects its request, and what the next request is (RFC 9110 §15.4).
///
/// A redirect from https to http is followed, as Darwin does if no transport security policy forbids it, and is treated
/// as one to another origin: no secret is sent. A delegate that does not want it answers with nil.
public enum RedirectRule {
    /// The most redirects of one task, as in browsers. RFC 9110 §15.4 asks for a limit and names none. A redirect to
    /// the same URL counts too: the next answer may be another one.
    public static let limit = 20

    /// Returns the redirect. Nil if the response is the answer: it is no redirect, or leads nowhere.
    ///
    /// - Parameters:
    ///   - status: the response's status.
    ///   - fields: the response's fields, of which Location counts.
    ///   - method: the method of the request that got the response, as sent.
    ///   - url: the URL of that request.
    ///   - secrets: the fields that another origin is not sent.
    ///   - read: reads the target's text as the caller's own URL type does; nil for a text that the type refuses.
    public static func follow(
        status: Int,
        fields: HTTPFields,
        method: String,
        url: WebURL,
        secrets: SecretFields = .usual,
        reading read: (String) -> WebURL? = { WebURL($0) }
    ) -> Redirect? {
        guard let rewrite = rewrite(status, method),
            let target = RedirectTarget.resolve(fields, against: url, reading: read)
        else { return nil }
        let origins = (url.origin, target.origin)
        return Redirect(
            url: target,
            method: rewrite,
            dropsContent: rewrite != method,
            isCrossOrigin: origins.0 != origins.1,
            isDowngrade: origins.0?.isSecure == true && origins.1?.isSecure != true,
            source: url,
            secrets: secrets
        )
    }

    /// Returns the method of the next request; nil if the status is no redirect. 301 and 302 change POST to GET, as RFC
    /// 9110 §15.4.2 permits and all clients do; 303 changes everything but HEAD to GET (§15.4.4); 307 and 308 change
    /// nothing (§15.4.8). 300 offers the user a choice; 304 to 306 are no redirects.
    private static func rewrite(_ status: Int, _ method: String) -> String? {
        switch status {
        case 301, 302: method == "POST" ? "GET" : method
        case 303: method == "HEAD" ? method : "GET"
        case 307, 308: method
        default: nil
        }
    }
}

/// The next request after a redirect.
public struct Redirect: Hashable, Sendable {
    /// The URL of the next request.
    public let url: WebURL
    /// The method of the next request.
    public let method: String
    /// Whether the method has changed, so that content and the fields that describe it are left out.
    public let dropsContent: Bool
    /// Whether scheme, host or port differ.
    public let isCrossOrigin: Bool
    /// Whether it leads from https to http.
    public let isDowngrade: Bool
    /// The URL that redirected.
    public let source: WebURL
    /// The fields that another origin is not sent.
    public let secrets: SecretFields

    /// Returns the next request's fields, made from those of the request that was redirected, **not** from the first
    /// one's. So a field that was left out on the way to another origin stays out, even if a later redirect leads back.
    public func fields(from fields: HTTPFields) -> HTTPFields {
        var kept = fields
        for index in (0..<fields.count).reversed() {
            let name = fields.name(at: index)
            if !keeps(name) { kept.remove(name: name) }
        }
        if let value = kept["Referer"] {
            if let referer = referer(value) {
                try? kept.replace("Referer", referer)
            } else {
                kept.remove(name: "Referer")
            }
        }
        return kept
    }

    /// Whether a field of the request is kept. That concerns the caller's own fields: the jar's cookies and answers to
    /// challenges are looked up anew for the new URL.
    public func keeps(_ name: String) -> Bool {
        let name = name.lowercased()
        if dropsContent, name.hasPrefix("content-") || Self.aboutContent.contains(name) { return false }
        if isCrossOrigin, secrets.contains(name) || Self.conditional.contains(name) { return false }
        return true
    }

    /// Returns the Referer (RFC 9110 §10.1.3): without fragment and user information; to another origin only the
    /// origin; nil if it came by https and the next server is reached without it.
    public func referer(_ value: String) -> String? {
        guard !isDowngrade, let origin = WebURL(value).origin,
            !origin.isSecure || url.origin?.isSecure == true
        else { return nil }
        if isCrossOrigin { return "\(origin)/" }
        var parts = URIReference(Array(value.utf8))
        parts.fragment = nil
        if let authority = parts.authority, let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            parts.authority = authority[(at + 1)...]
        }
        return String(decoding: parts.bytes, as: UTF8.self)
    }

    private static let aboutContent: Set<String> = [
        "transfer-encoding", "trailer", "expect", "digest", "repr-digest",
    ]

    /// These fields compare with what another server has sent.
    private static let conditional: Set<String> = [
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
    ]
}
