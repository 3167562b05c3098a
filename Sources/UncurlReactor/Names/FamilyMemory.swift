internal import Synchronization

/// Which address family won the last race to a host. It is remembered for ten minutes: a host whose IPv6 is broken
/// costs the first connection a quarter of a second, but not every one. Any thread.
final class FamilyMemory: Sendable {
    static let lifetime = Duration.seconds(600)
    /// A crawler meets any number of hosts, and a client of services some dozens; a host that is forgotten only costs a
    /// delay.
    static let maximumHosts = 256

    private struct Entry {
        let family: IPAddress.Family
        let until: Instant
    }

    private let entries = Mutex<[String: Entry]>([:])

    func winner(of host: String, now: Instant) -> IPAddress.Family? {
        entries.withLock { entries in
            guard let entry = entries[host] else { return nil }
            if entry.until > now { return entry.family }
            entries[host] = nil
            return nil
        }
    }

    func remember(_ family: IPAddress.Family, for host: String, now: Instant) {
        entries.withLock { entries in
            if entries.count >= FamilyMemory.maximumHosts, entries[host] == nil {
                entries = entries.filter { $0.value.until > now }
                if entries.count >= FamilyMemory.maximumHosts { entries.removeAll(keepingCapacity: true) }
            }
            entries[host] = Entry(family: family, until: now.advanced(by: FamilyMemory.lifetime))
        }
    }
}
