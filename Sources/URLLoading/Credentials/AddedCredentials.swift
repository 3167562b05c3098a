internal import UncurlSemantics

/// The credentials that sessions have added to a storage, by server, the oldest first. A server may name a new realm in
/// each challenge, so as many are kept as of the answers to them (``AuthorizationMemory``). Those that the program
/// stores itself have no limit.
struct AddedCredentials {
    struct Place: Hashable {
        let space: ProtectionSpaceValues
        let name: String
    }

    private var places: [ProtectionSpaceValues: [Place]] = [:]
    /// The servers, the oldest first.
    private var servers: [ProtectionSpaceValues] = []

    /// Adds a place. Returns those that are left out for it.
    mutating func add(_ place: Place) -> [Place] {
        let server = place.space.server
        var old: [Place] = []
        if places[server] == nil {
            if servers.count == AuthorizationMemory.serverLimit {
                old = places.removeValue(forKey: servers.removeFirst()) ?? []
            }
            servers.append(server)
        }
        var own = places[server] ?? []
        if own.count == AuthorizationMemory.realmLimit { old.append(own.removeFirst()) }
        own.append(place)
        places[server] = own
        return old
    }

    /// Leaves out a place that the program itself has changed.
    mutating func remove(_ place: Place) { places[place.space.server]?.removeAll { $0 == place } }
}

extension ProtectionSpaceValues {
    /// What all spaces of the server have in common.
    fileprivate var server: ProtectionSpaceValues {
        ProtectionSpaceValues(host: host, port: port, side: side, realm: nil, method: nil)
    }
}
