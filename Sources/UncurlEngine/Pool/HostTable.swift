/// The hosts that have connections or waiters.
struct HostTable {
    private var hosts: [Destination: Host] = [:]
    /// The host of the last request: most programs use one host many times.
    private var last: Host?

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
}

/// The hosts that wait for a place among the engine's connections, each once, in the order of their arrival.
struct StarvedHosts {
    private var line: [Host] = []

    var isEmpty: Bool { line.isEmpty }

    /// Whether another host than this one waits.
    func hasOthers(than host: Host) -> Bool { line.count > (host.isStarved ? 1 : 0) }

    mutating func append(_ host: Host) {
        guard !host.isStarved else { return }
        host.isStarved = true
        line.append(host)
    }

    mutating func remove(_ host: Host) {
        guard host.isStarved else { return }
        host.isStarved = false
        line.removeAll { $0 === host }
    }

    /// Removes and returns the host that has waited longest.
    mutating func next() -> Host? {
        guard !line.isEmpty else { return nil }
        let host = line.removeFirst()
        host.isStarved = false
        return host
    }
}
