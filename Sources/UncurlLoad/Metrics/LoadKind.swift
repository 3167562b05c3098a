/// The load on connections.
package enum LoadKind: String, Hashable, Sendable {
    case requests
    /// Each connection is opened, TLS included, and closed again.
    case handshakes
}
