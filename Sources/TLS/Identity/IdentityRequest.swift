/// A server's wish to see who the client is (RFC 8446 §4.3.2, RFC 5246 §7.4.4).
public struct IdentityRequest: Hashable, Sendable {
    /// The server that the client means to reach.
    public let name: ServerName
    /// The authorities whose certificates the server takes: distinguished names in DER. None: it does not say.
    public let authorities: [[UInt8]]

    /// A request from its parts.
    public init(name: ServerName, authorities: [[UInt8]]) {
        self.name = name
        self.authorities = authorities
    }
}

/// The answer to ``TLSSession/Handshake/identity(_:)``.
public enum IdentityAnswer: Hashable, Sendable {
    /// What the configuration says: its identity, or none.
    case configured
    /// This identity is shown.
    case show(ClientIdentity)
    /// The handshake is given up.
    case refuse(reason: String)
}
