/// An end of the connection. The client masks its frames (RFC 6455 §5.1), and the server closes the transport (§7.1.1).
public enum Role: Hashable, Sendable {
    /// A client masks what it sends, and a server must not (RFC 6455 §5.1).
    case client, server
}
