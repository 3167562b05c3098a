/// The hosts that have connections or waiters, and those that wait for a place among the engine's connections.
struct HostTable {
    private var hosts: [Destination: Host] = [:]
    /// The host of the last request: most programs use one host many times.
    private var last: Host?
    /// The hosts that wait for a place, each once, in the order of their arrival.
    private var starved: [Host] = []

    var count: Int { hosts.count }
    var all: Dictionary<Destination, Host>.Values { hosts.values }

    /// Whether a host has an idle connection.
    var hasIdle: Bool {
        if let last, last.pool.idleCount > 0 { return true }
        return hosts.values.contains { $0.pool.idleCount > 0 }
    }

    /// The host of the last request, if it is this one.
    @inline(__always)
    func recent(_ destination: Destination) -> Host? {
        if let last, last.destination == destination { last } else { nil }
    }

    mutating func find(_ destination: Destination, orMake make: () -> Host) -> Host {
        let host = hosts[destination] ?? make()
        hosts[destination] = host
        last = host
        return host
    }

    /// Removes a host that has neither connections nor waiters, so that the table does not grow with hosts that are no
    /// longer used.
    mutating func tidy(_ host: Host) {
        guard host.pool.isEmpty, !host.isStarved else { return }
        hosts[host.destination] = nil
        if last === host { last = nil }
    }

    // MARK: Without a place

    var hasStarved: Bool { !starved.isEmpty }

    /// Whether another host than this one waits for a place.
    func hasStarved(besides host: Host) -> Bool { starved.count > (host.isStarved ? 1 : 0) }

    mutating func starve(_ host: Host) {
        guard !host.isStarved else { return }
        host.isStarved = true
        starved.append(host)
    }

    mutating func noLongerStarved(_ host: Host) {
        guard host.isStarved else { return }
        host.isStarved = false
        starved.removeAll { $0 === host }
    }

    /// Removes and returns the host that has waited longest for a place.
    mutating func nextStarved() -> Host? {
        guard !starved.isEmpty else { return nil }
        let host = starved.removeFirst()
        host.isStarved = false
        return host
    }
}

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
