import UncurlSemantics

/// A cookie that each virtual user has from the start, as if its server had set it.
package struct GivenCookie: Hashable, Sendable {
    /// The cookie in the form of a Set-Cookie field (RFC 6265bis §5.6): `a=1; Path=/`.
    let line: String
    /// The host that set it. Nil for the run's own.
    let host: String?
    /// The time when it expires, in seconds since 1970. Nil if it expires with the run.
    let expires: Double?

    package init(_ line: String, host: String? = nil, expires: Double? = nil) {
        (self.line, self.host, self.expires) = (line, host, expires)
    }
}
