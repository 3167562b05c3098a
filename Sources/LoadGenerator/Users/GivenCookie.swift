import HTTPSemantics

/// A cookie that each virtual user has from the start, as its server might have set it.
package struct GivenCookie: Hashable, Sendable {
    /// As a Set-Cookie field has it (RFC 6265bis §5.6): `a=1; Path=/`.
    let line: String
    /// The host that set it; nil: the run's own.
    let host: String?
    /// When it ends, in seconds since 1970; nil: with the run.
    let expires: Double?

    package init(_ line: String, host: String? = nil, expires: Double? = nil) {
        (self.line, self.host, self.expires) = (line, host, expires)
    }
}
