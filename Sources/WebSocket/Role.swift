/// Which end of the connection: the two differ in who masks (RFC 6455 §5.1) and in who closes the transport (§7.1.1).
public enum Role: Hashable, Sendable {
    case client, server
}
