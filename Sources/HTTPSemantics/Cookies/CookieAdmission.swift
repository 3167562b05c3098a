/// Whether a server may have a cookie kept (RFC 6265bis §5.7), as far as the jar's content does not matter.
public enum CookieAdmission {
    /// The cookie to keep, changed where the rules say so; nil if it is refused.
    ///
    /// - Parameters:
    ///   - cookie: as its line reads.
    ///   - scope: of the request that the cookie came in answer to.
    ///   - isSameSite: whether that request was caused by its own site (RFC 6265bis §5.2).
    ///   - suffixes: the domains that no host below them may set cookies for.
    public static func admit(
        _ cookie: Cookie,
        from scope: CookieScope,
        isSameSite: Bool,
        suffixes: PublicSuffixes = .list
    ) -> Cookie? {
        var cookie = cookie
        guard isNamedFairly(cookie), !cookie.isSecure || scope.isSecure, cookie.domain.utf8.allSatisfy({ $0 < 0x80 })
        else { return nil }
        if !cookie.isHostOnly, !scope.isAddress, suffixes.contains(cookie.domain) {
            // A public suffix may set cookies for itself, not for those below it.
            guard cookie.domain == scope.host else { return nil }
            cookie.isHostOnly = true
        }
        guard cookie.isHostOnly ? cookie.domain == scope.host : scope.matches(domain: cookie.domain) else { return nil }
        switch cookie.sameSite {
        case .strict, .lax: if !isSameSite { return nil }
        case .none?, nil: break
        }
        return keepsItsPromise(cookie) ? cookie : nil
    }

    /// A cookie that is all value is sent as if the value were name and value: it may not look like one with a prefix.
    private static func isNamedFairly(_ cookie: Cookie) -> Bool {
        guard !Cookie.holdsControls(cookie.name), !Cookie.holdsControls(cookie.value) else { return false }
        return !cookie.name.isEmpty || !(hasPrefix("__secure-", cookie.value) || hasPrefix("__host-", cookie.value))
    }

    /// What the name's prefix says of the cookie (§4.1.3) must be so. Case does not matter: servers do not look at it.
    private static func keepsItsPromise(_ cookie: Cookie) -> Bool {
        if hasPrefix("__secure-", cookie.name) { return cookie.isSecure }
        if hasPrefix("__host-", cookie.name) { return cookie.isSecure && cookie.isHostOnly && cookie.path == "/" }
        return true
    }

    private static func hasPrefix(_ prefix: String, _ text: String) -> Bool {
        text.utf8.count >= prefix.utf8.count
            && zip(text.utf8, prefix.utf8).allSatisfy { $0.lowercasedASCII == $1 }
    }
}
