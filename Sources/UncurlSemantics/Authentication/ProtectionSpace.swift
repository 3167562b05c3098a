/// A part of a server or a proxy that one name and password opens (RFC 9110 §11.5).
public struct ProtectionSpace: Hashable, Sendable {
    /// The host in lower case.
    public let host: String
    /// The port of the server or the proxy.
    public let port: Int
    /// Whether the host is a server or a proxy.
    public let side: ChallengeAuthenticator.Side
    /// Whether the host is reached over TLS.
    public let isSecure: Bool
    /// The realm as the challenge names it; realms are compared with case.
    public let realm: String?
    /// The scheme of the challenge.
    public let scheme: AuthenticationScheme

    /// - Parameters:
    ///   - host: in any case (RFC 3986 §3.2.2).
    ///   - port: the port of the server or the proxy.
    ///   - side: which of the two it is.
    ///   - isSecure: whether the request was for https.
    ///   - realm: nil if the challenge names none.
    ///   - scheme: the scheme of the challenge.
    public init(
        host: String,
        port: Int,
        side: ChallengeAuthenticator.Side,
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

    /// Compares realms by their octets.
    public static func == (left: ProtectionSpace, right: ProtectionSpace) -> Bool {
        left.host == right.host && left.port == right.port && left.side == right.side
            && left.isSecure == right.isSecure && left.realmOctets == right.realmOctets && left.scheme == right.scheme
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(side)
        hasher.combine(isSecure)
        hasher.combine(realmOctets)
        hasher.combine(scheme)
    }

    private var realmOctets: [UInt8]? { realm.map { Array($0.utf8) } }
}

/// The schemes that a user can be asked about (RFC 9110 §11.1). Those of `ntlm` and `negotiate` cannot be answered
/// here: they need an operating system's help.
public enum AuthenticationScheme: String, Hashable, Sendable {
    /// RFC 7617, RFC 7616, and the two of Microsoft's (RFC 4559).
    case basic, digest, ntlm, negotiate
}
