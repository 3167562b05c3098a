public import UncurlHTTP1

/// The target of a Location field (RFC 9110 §10.2.2).
public enum RedirectTarget {
    /// Returns the target. Nil if it cannot be reached by http or https: no Location, an empty one, two that differ, or
    /// one without a host. The response is then the answer.
    ///
    /// - Parameters:
    ///   - fields: the response's fields, of which Location counts.
    ///   - url: the URL of the request that was answered.
    ///   - read: reads the target's text as the caller's own URL type does; nil for a text that the type refuses.
    public static func resolve(
        _ fields: HTTPFields,
        against url: WebURL,
        reading read: (String) -> WebURL? = { WebURL($0) }
    ) -> WebURL? {
        guard let location = location(in: fields) else { return nil }
        let base = url.reference
        let reference = URIReference(location)
        var target = reference.resolved(against: base)
        guard let scheme = target.scheme.map({ String(decoding: $0, as: UTF8.self).lowercased() }),
            scheme == "http" || scheme == "https", var authority = target.authority
        else { return nil }
        // RFC 9110 §4.2.4: a server's text before an "@" mostly serves to make a URL look like another one. It is
        // ignored. A Location without an authority has the request's, with the caller's user and password.
        if reference.authority != nil, let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            authority = authority[(at + 1)...]
        }
        guard !authority.isEmpty, authority.first != UInt8(ascii: ":") else { return nil }
        target.authority = authority
        // The fragment is that of the request's URL, unless Location has one.
        target.fragment = target.fragment ?? base.fragment
        guard let text = String(validating: target.percentEncoded.bytes, as: UTF8.self), let found = read(text),
            found.origin != nil
        else { return nil }
        return found
    }

    private static func location(in fields: HTTPFields) -> [UInt8]? {
        guard let range = fields.first(.location) else { return nil }
        let first = fields.block[range]
        guard !first.isEmpty else { return nil }
        for index in 0..<fields.count where fields.known(at: index) == .location {
            guard fields.block[fields.valueRange(at: index)] == first else { return nil }
        }
        // A server cannot send line ends in a value; a response that a program made up may hold them.
        guard !first.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else { return nil }
        return Array(first)
    }
}
