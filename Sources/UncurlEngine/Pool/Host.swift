/// One destination's connections and waiters on an engine.
final class Host {
    let destination: Destination
    let route: Route
    var pool: ConnectionPool
    /// Whether it waits for any connection to close: the engine's total limit is reached.
    var isStarved = false
    /// Whether the last answer was HTTP/1.0: such a server does not know chunks (RFC 9112 §6.1).
    var isHTTP10 = false

    init(_ destination: Destination, _ route: Route, limit: Int) {
        self.destination = destination
        self.route = route
        pool = ConnectionPool(limit: limit)
    }
}
