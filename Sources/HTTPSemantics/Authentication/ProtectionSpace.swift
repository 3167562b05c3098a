/// A part of a server, or of a proxy, that one name and password opens (RFC 9110 §11.5).
public struct ProtectionSpace: Hashable, Sendable {
    /// Lower case.
    public let host: String
    /// The server's, or the proxy's.
    public let port: Int
    /// Whether the host is asked as a server or as a proxy.
    public let side: Authenticator.Side
    /// The host is asked over TLS.
    public let isSecure: Bool
    /// As the challenge names it; realms compare with the case of their letters.
    public let realm: String?
    /// How the challenge wants to be answered.
    public let scheme: AuthenticationScheme

    /// - Parameters:
    ///   - host: in any case of letters (RFC 3986 §3.2.2).
    ///   - port: of the server, or of the proxy.
    ///   - side: which of the two it is.
    ///   - isSecure: whether requests for https are meant.
    ///   - realm: nil where the challenge names none.
    ///   - scheme: of the authentication.
    public init(
        host: String,
        port: Int,
        side: Authenticator.Side,
        isSecure: Bool,
        realm: String?,
        scheme: AuthenticationScheme
    ) {
        self.host = host.lowercased()
        self.port = port
        self.side = side
        self.isSecure = isSecure
        self.realm = realm
        self.scheme = scheme
    }
}

/// The schemes that a user can be asked about (RFC 9110 §11.1). Those of `ntlm` and `negotiate` cannot be answered
/// here: they need an operating system's help.
public enum AuthenticationScheme: String, Hashable, Sendable {
    /// RFC 7617, RFC 7616, and the two of Microsoft's (RFC 4559).
    case basic, digest, ntlm, negotiate
}
