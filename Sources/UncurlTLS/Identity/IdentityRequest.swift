/// A server's request for the client's certificate (RFC 8446 §4.3.2, RFC 5246 §7.4.4).
public struct IdentityRequest: Hashable, Sendable {
    /// The server that the client means to reach.
    public let name: ServerName
    /// The authorities whose certificates the server accepts, as distinguished names in DER. Empty: it does not say.
    public let authorities: [[UInt8]]

    /// Makes a request from its parts.
    public init(name: ServerName, authorities: [[UInt8]]) {
        self.name = name
        self.authorities = authorities
    }
}

/// The answer to ``TLSSession/Handshake/identity(_:)``.
public enum IdentityAnswer: Hashable, Sendable {
    /// The configuration decides: its identity is shown, or none.
    case configured
    /// This identity is shown.
    case show(ClientIdentity)
    /// The handshake fails.
    case refuse(reason: String)
}
