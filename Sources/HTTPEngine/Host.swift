/// One destination's connections and waiters on an engine.
final class Host {
    let destination: Destination
    var pool: ConnectionPool
    /// Waits for a connection anywhere to close: the engine's total limit is reached.
    var isStarved = false

    init(_ destination: Destination, limit: Int) {
        self.destination = destination
        pool = ConnectionPool(limit: limit)
    }
}
