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
        url: URIReference,
        secrets: SecretFields = .usual,
        reading read: (String) -> URIReference? = { URIReference($0) }
    ) -> Redirect? {
        guard let rewrite = rewrite(status, method),
            let target = target(of: fields, against: url, reading: read)
        else { return nil }
        let origins = (url.origin, target.origin)
        return Redirect(
            url: target,
            method: rewrite,
            dropsContent: rewrite != method,
            // A place that no request can be sent to is no other's.
            isCrossOrigin: origins.0 == nil || origins.0 != origins.1,
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
    public let url: URIReference
    /// The method of the next request.
    public let method: String
    /// Whether the method has changed, so that content and the fields that describe it are left out.
    public let dropsContent: Bool
    /// Whether scheme, host or port differ.
    public let isCrossOrigin: Bool
    /// Whether it leads from https to http.
    public let isDowngrade: Bool
    /// The URL that redirected.
    public let source: URIReference
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
        guard !isDowngrade, let origin = URIReference(value).origin,
            !origin.isSecure || url.origin?.isSecure == true
        else { return nil }
        if isCrossOrigin { return "\(origin)/" }
        var parts = URIReference(value)
        parts.fragment = nil
        parts.authority = parts.server
        return parts.text
    }

    private static let aboutContent: Set<String> = [
        "transfer-encoding", "trailer", "expect", "digest", "repr-digest",
    ]

    /// These fields compare with what another server has sent.
    private static let conditional: Set<String> = [
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
    ]
}

/// The target of a Location field (RFC 9110 §10.2.2).
extension RedirectRule {
    /// Returns the target. Nil if it cannot be reached by http or https: no Location, an empty one, two that differ, or
    /// one without a host. The response is then the answer.
    ///
    /// - Parameters:
    ///   - fields: the response's fields, of which Location counts.
    ///   - url: the URL of the request that was answered.
    ///   - read: reads the target's text as the caller's own URL type does; nil for a text that the type refuses.
    public static func target(
        of fields: HTTPFields,
        against url: URIReference,
        reading read: (String) -> URIReference? = { URIReference($0) }
    ) -> URIReference? {
        guard let location = location(in: fields) else { return nil }
        let reference = URIReference(location)
        var target = reference.resolved(against: url)
        guard let scheme = target.scheme.map({ String(decoding: $0, as: UTF8.self).lowercased() }),
            scheme == "http" || scheme == "https", target.authority != nil
        else { return nil }
        // RFC 9110 §4.2.4: a server's text before an "@" mostly serves to make a URL look like another one. It is
        // ignored. A Location without an authority has the request's, with the caller's user and password.
        if reference.authority != nil { target.authority = target.server }
        // The fragment is that of the request's URL, unless Location has one.
        target.fragment = target.fragment ?? url.fragment
        guard let text = String(validating: target.percentEncoded.bytes, as: UTF8.self), let found = read(text),
            found.namesServer
        else { return nil }
        return found
    }

    private static func location(in fields: HTTPFields) -> [UInt8]? {
        guard let location = fields.agreed(.location), !location.isEmpty else { return nil }
        // A server cannot send line ends in a value; a response that a program made up may hold them.
        guard !location.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else { return nil }
        return Array(location)
    }
}
