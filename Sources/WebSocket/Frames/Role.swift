/// Which end of the connection: the two differ in which masks (RFC 6455 §5.1) and which closes the transport (§7.1.1).
public enum Role: Hashable, Sendable {
    /// A client masks what it sends, and a server must not (RFC 6455 §5.1).
    case client, server
}
