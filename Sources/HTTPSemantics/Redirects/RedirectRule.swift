public import HTTP1

/// Whether a response sends its request elsewhere, and as what (RFC 9110 §15.4).
///
/// A redirect from https to http is followed, as Darwin does where no transport security policy forbids it, and is
/// treated as one to another origin: nothing secret goes along. A delegate that wants none of it answers with nil.
public enum RedirectRule {
    /// Of one task, as browsers have it. RFC 9110 §15.4 asks for a limit and names none. A redirect to the same URL
    /// counts as any other: the next answer may be another one.
    public static let limit = 20

    /// Nil: the response is the answer, as with any that is no redirect, and with one that leads nowhere.
    ///
    /// - Parameters:
    ///   - status: of the response.
    ///   - fields: of the response; Location counts.
    ///   - method: that of the request which got the response, as sent.
    ///   - url: the same request's.
    ///   - secrets: what another origin is not sent.
    ///   - read: takes the target's text as the caller's own URL type does; nil for what that type refuses.
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

    /// The method of the next request, nil if the status is no redirect. 301 and 302 turn POST into GET, as RFC 9110
    /// §15.4.2 permits and all clients do; 303 everything but HEAD (§15.4.4); 307 and 308 nothing (§15.4.8). 300 offers
    /// a choice to the user; 304 to 306 are none.
    private static func rewrite(_ status: Int, _ method: String) -> String? {
        switch status {
        case 301, 302: method == "POST" ? "GET" : method
        case 303: method == "HEAD" ? method : "GET"
        case 307, 308: method
        default: nil
        }
    }
}

/// What becomes of a request that is redirected.
public struct Redirect: Hashable, Sendable {
    /// Where the next request goes.
    public let url: WebURL
    /// The next request's.
    public let method: String
    /// The method is another one, so content and what describes it stay behind.
    public let dropsContent: Bool
    /// Scheme, host or port are others.
    public let isCrossOrigin: Bool
    /// From https to http.
    public let isDowngrade: Bool
    /// Where the redirect came from.
    public let source: WebURL
    /// The fields that another origin is not sent.
    public let secrets: SecretFields

    /// The next request's fields, from those of the request that was redirected: **that** one's, not the first one's.
    /// So what was taken away on the way to another origin stays away, even when a later redirect leads home.
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

    /// Whether a field of the request goes along. Cookies of the jar and answers to challenges are found anew for the
    /// new URL; what is meant here are the caller's own.
    public func keeps(_ name: String) -> Bool {
        let name = name.lowercased()
        if dropsContent, name.hasPrefix("content-") || Self.aboutContent.contains(name) { return false }
        if isCrossOrigin, secrets.contains(name) || Self.conditional.contains(name) { return false }
        return true
    }

    /// RFC 9110 §10.1.3: no fragment and no user information; to another origin the origin alone; nothing that came by
    /// https to a server that is asked without it.
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

    /// They compare with what another server has sent.
    private static let conditional: Set<String> = [
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
    ]
}
