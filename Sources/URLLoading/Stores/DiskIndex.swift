internal import Foundation

/// What this process knows of a cache's directory: names, sizes, and when each entry was used last.
struct DiskIndex: Sendable {
    /// The size of an entry's file in octets, and when it was used last, in nanoseconds since 1970.
    typealias Entry = (size: Int, used: Int64)

    private(set) var entries: [String: Entry] = [:]
    /// How many names begin with each quick digest: a look-up that finds none here needs no full name.
    private var digests: [UInt64: Int] = [:]
    /// In octets.
    private(set) var usage = 0
    /// The directory's state when it was read. It changes when another process adds or removes a file.
    var state: StoreFile.State?

    static let suffix = ".entry"
    /// The suffix of a file that is being written, or that a process left behind when it died.
    static let unfinished = ".tmp"
    /// The age of an abandoned file, in nanoseconds: no write takes that long. A file that is as far in the future is
    /// abandoned too: the clock was ahead when it was written.
    private static let abandonedAfter: Int64 = 3600 * 1_000_000_000

    static func isEntry(_ name: String) -> Bool {
        name.hasSuffix(suffix) && name.utf8.count == 32 + suffix.utf8.count
            && name.utf8.dropLast(suffix.utf8.count).allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
    }

    func mayHold(_ quickDigest: UInt64) -> Bool { digests[quickDigest] != nil }

    mutating func set(_ name: String, _ entry: Entry) {
        remove(name)
        entries[name] = entry
        usage += entry.size
        digests[Self.quickDigest(of: name), default: 0] += 1
    }

    mutating func touch(_ name: String, _ used: Int64) {
        entries[name]?.used = used
    }

    mutating func remove(_ name: String) {
        guard let old = entries.removeValue(forKey: name) else { return }
        usage -= old.size
        let digest = Self.quickDigest(of: name)
        let rest = digests[digest, default: 1] - 1
        digests[digest] = rest > 0 ? rest : nil
    }

    private static func quickDigest(of name: String) -> UInt64 { UInt64(name.prefix(16), radix: 16) ?? 0 }

    /// Returns the names to remove, least recently used first, until the rest takes no more than `capacity`. Once that
    /// is exceeded, an eighth more goes, so that not every store has to look for victims; but the entry used last,
    /// which was just stored, stays if it fits.
    func victims(toFit capacity: Int) -> [String] {
        guard usage > capacity else { return [] }
        let sorted = entries.sorted { $0.value.used < $1.value.used }
        let goal = min(capacity, max(capacity - capacity / 8, sorted.last?.value.size ?? 0))
        var left = usage
        var names: [String] = []
        for (name, entry) in sorted {
            if left <= goal { break }
            left -= entry.size
            names.append(name)
        }
        return names
    }

    /// Reads a directory, and removes what dead processes have left. Blocks.
    static func read(_ directory: String, now: Int64) throws(StoreFile.Fault) -> DiskIndex {
        var index = DiskIndex()
        // The state is read before the names: a change meanwhile makes the next look read again.
        index.state = StoreFile.state(directory)
        guard index.state != nil else { return index }
        for name in try StoreFile.names(in: directory) {
            let path = directory + "/" + name
            if isEntry(name), let state = StoreFile.state(path) {
                // An entry from the future, written while the clock was ahead, would never be evicted.
                index.set(name, (Int(state.size), min(state.time, now)))
            } else if name.hasSuffix(unfinished), name.contains(suffix), let state = StoreFile.state(path),
                (now &- state.time).magnitude > abandonedAfter
            {
                StoreFile.remove(path)
            }
        }
        return index
    }
}

extension StoreFile.State {
    /// Nanoseconds since 1970.
    var time: Int64 { seconds &* 1_000_000_000 &+ nanoseconds }
}
