/// What is done with connections.
package enum LoadKind: String, Hashable, Sendable {
    case requests
    /// Each is opened, TLS included, and closed again.
    case handshakes
}
