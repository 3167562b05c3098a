/// Whether a server may store a cookie (RFC 6265bis §5.7), without regard to what the jar holds.
public enum CookieAdmission {
    /// Returns the cookie to store, changed where the rules say so; nil if it is refused.
    ///
    /// - Parameters:
    ///   - cookie: the cookie of a Set-Cookie line.
    ///   - scope: the scope of the request whose answer set the cookie.
    ///   - isSameSite: whether that request was caused by its own site (RFC 6265bis §5.2).
    ///   - suffixes: the domains for which no host below them may set cookies.
    public static func admit(
        _ cookie: Cookie,
        from scope: CookieScope,
        isSameSite: Bool,
        suffixes: PublicSuffixes = .list
    ) -> Cookie? {
        var cookie = cookie
        guard hasSafeName(cookie), !cookie.isSecure || scope.isSecure, cookie.domain.utf8.allSatisfy({ $0 < 0x80 })
        else { return nil }
        if !cookie.isHostOnly, !scope.isAddress, suffixes.contains(cookie.domain) {
            // A public suffix may set cookies for itself, but not for names below it.
            guard cookie.domain == scope.host else { return nil }
            cookie.isHostOnly = true
        }
        guard cookie.isHostOnly ? cookie.domain == scope.host : scope.matches(domain: cookie.domain) else { return nil }
        switch cookie.sameSite {
        case .strict, .lax: if !isSameSite { return nil }
        case .none?, nil: break
        }
        return fulfilsPrefix(cookie) ? cookie : nil
    }

    /// Whether the name does not pretend to have a prefix. A cookie without a name is sent as its value alone, which a
    /// server would read as name and value.
    private static func hasSafeName(_ cookie: Cookie) -> Bool {
        guard !Cookie.holdsControls(cookie.name), !Cookie.holdsControls(cookie.value) else { return false }
        return !cookie.name.isEmpty || !(hasPrefix("__secure-", cookie.value) || hasPrefix("__host-", cookie.value))
    }

    /// Whether the cookie is as the prefix of its name says (§4.1.3). Case does not matter: servers ignore it.
    private static func fulfilsPrefix(_ cookie: Cookie) -> Bool {
        if hasPrefix("__secure-", cookie.name) { return cookie.isSecure }
        if hasPrefix("__host-", cookie.name) { return cookie.isSecure && cookie.isHostOnly && cookie.path == "/" }
        return true
    }

    static func hasPrefix(_ prefix: String, _ text: String) -> Bool {
        text.utf8.count >= prefix.utf8.count
            && zip(text.utf8, prefix.utf8).allSatisfy { $0.lowercasedASCII == $1 }
    }
}
