internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS
internal import UncurlText

/// The part of a cache that is on disk: a directory with one file an entry, named by the key's digest.
///
/// Files appear and disappear whole, so any number of processes may share the directory. Each reads its index anew when
/// another has changed the directory. Everything but ``holds(_:isExact:)`` may block for the disk. Any thread.
final class DiskCache: Sendable {
    let directory: String
    private let state: Mutex<State>
    /// Held while a file is written, so that the later of two writes is the one that stays.
    private let writing = Mutex(())

    /// What the lock guards.
    private struct State {
        var capacity: Int
        var index = DiskIndex()
        var waiting: [CacheKey: CachedURLResponse] = [:]
        var waitingOctets = 0
        /// The key that is being written from `waiting`, and whether it was removed meanwhile. Its file is not found
        /// then, and is removed as soon as it is written.
        var underway: (key: CacheKey, isRemoved: Bool)?
        /// What was stored at that time or later is still to be removed; nil if nothing is. Until then nothing on disk
        /// is found.
        var owed: Date?
        /// When ``holds(_:isExact:)`` last looked at the directory, on the monotonic clock.
        var looked: Int64?
    }

    /// In octets. A response that waits for the disk may be in memory twice. If that much waits, the disk is slower
    /// than the network, and caching more gains nothing.
    private static let waitingLimit = 16 << 20

    /// The queue that writes, one for all caches of a process: they share its disk.
    private static let writer = DispatchQueue(label: "URLLoading.DiskCache", qos: .utility)

    init(directory: String, capacity: Int) {
        self.directory = directory
        state = Mutex(State(capacity: capacity))
    }

    var capacity: Int {
        get { state.withLock { $0.capacity } }
        set {
            state.withLock { $0.capacity = newValue }
            evict()
        }
    }

    /// In octets.
    var usage: Int {
        finishWriting()
        refresh()
        return state.withLock { $0.index.usage }
    }

    // MARK: Look-ups

    /// How old, in nanoseconds, a look at the directory may be for ``holds(_:isExact:)``. A system call for each
    /// request costs more than is lost if another process's answer is found a moment later.
    private static let patience: Int64 = 100_000_000

    /// Returns what can be said from the directory's state alone: at most one system call, and no allocation.
    ///
    /// - Parameter isExact: whether to see at once what other caches have stored in the directory.
    func holds(_ key: @autoclosure () -> CacheKey?, isExact: Bool = true) -> AnswerFinding<CachedURLResponse> {
        let now = Self.now(CLOCK_MONOTONIC_COARSE)
        let isRecent = !isExact && state.withLock { $0.looked.map { now - $0 < Self.patience } ?? false }
        let found = isRecent ? nil : StoreFile.state(directory)
        return state.withLock { state in
            let found = isRecent ? state.index.state : found
            // Until the index is read, every look counts.
            if !isRecent { state.looked = state.index.state == found ? now : nil }
            if state.waiting.isEmpty, state.index.entries.isEmpty, state.index.state == found { return .nothing }
            guard let key = key() else { return .nothing }
            if let entry = state.waiting[key] { return .answer(entry) }
            if state.index.state != found { return .unread(key) }
            return state.index.mayHold(key.quickDigest) ? .unread(key) : .nothing
        }
    }

    func read(_ key: CacheKey) -> CachedURLResponse? {
        let (waiting, isRemoved) = state.withLock { state in
            (state.waiting[key], state.underway.map { $0.key == key && $0.isRemoved } ?? false)
        }
        if waiting != nil || isRemoved { return waiting }
        refresh()
        let name = Self.name(of: key)
        let capacity = state.withLock { state in
            state.index.entries[name] == nil || state.owed != nil ? nil : state.capacity
        }
        guard let capacity else { return nil }
        let path = directory + "/" + name
        do throws(Errno) {
            if let entry = CacheFile.decode(try StoreFile.read(path, limit: max(capacity, 0)), for: key) {
                StoreFile.touch(path)
                state.withLock { $0.index.touch(name, Self.now()) }
                return entry
            }
        } catch {
            // A file that became larger than the cache may be is not one of this cache.
            if !StoreFile.isOfFile(error) { return nil }
        }
        remove(names: [name])
        return nil
    }

    // MARK: Changes

    /// Writes the entry before it returns. A disk that is full or read-only stores nothing. The older entry is removed
    /// in any case.
    func store(_ entry: CachedURLResponse, for key: CacheKey, now: Date) {
        forget(key)
        writing.withLock { _ in write(entry, key, now) }
    }

    /// Writes the entry later, on a thread that may wait for the disk. Until then, look-ups find it in memory. Of
    /// several entries for one key the last is written. A process that ends before that has not stored it.
    func storeLater(_ entry: CachedURLResponse, for key: CacheKey, now: Date) {
        let isFirst = state.withLock { state -> Bool? in
            let old = state.waiting[key]?.cost ?? 0
            let (octets, isTooMuch) = (state.waitingOctets - old).addingReportingOverflow(entry.cost)
            guard !isTooMuch, octets <= Self.waitingLimit else { return nil }
            state.waitingOctets = octets
            return state.waiting.updateValue(entry, forKey: key) == nil
        }
        switch isFirst {
        case nil:
            // There is no room to wait in. The entry on disk is older than the one that could not be written.
            remove(key)
        case true?:
            Self.writer.async { [weak self] in self?.writeWaiting(key, now) }
        case false?:
            break
        }
    }

    func remove(_ key: CacheKey) {
        if case .nothing = holds(key) { return }
        forget(key)
        remove(names: [Self.name(of: key)])
    }

    func removeAll() {
        forgetAll()
        owe(since: .distantPast)
    }

    /// Removes what was stored at that time or later.
    func removeAll(storedSince date: Date) {
        finishWriting()
        owe(since: date)
    }

    /// Removes what was stored since then: now, or as soon as the directory and its entries can be read. A lack of
    /// descriptors hides them.
    private func owe(since date: Date) {
        state.withLock { $0.owed = min(date, $0.owed ?? date) }
        refresh()
    }

    /// Removes the known entries that are to be removed.
    ///
    /// - Parameter knowsAll: whether there are no others.
    private func removeOwed(knowsAll: Bool) {
        let (owed, names) = state.withLock { ($0.owed, Array($0.index.entries.keys)) }
        guard let owed else { return }
        var isDone = knowsAll
        let old = names.filter { name in
            if owed == .distantPast { return true }
            do throws(Errno) {
                let start = try StoreFile.read(directory + "/" + name, first: CacheFile.startLength)
                return CacheFile.stored(start).map { $0 >= owed } ?? true
            } catch {
                // For want of descriptors or memory, nothing is known of the entry. That passes.
                if error.isResourceExhaustion { isDone = false }
                return !error.isResourceExhaustion
            }
        }
        remove(names: old)
        if isDone { state.withLock { if $0.owed == owed { $0.owed = nil } } }
    }

    /// Waits until all waiting entries are written.
    func finishWriting() {
        guard state.withLock({ !$0.waiting.isEmpty }) else { return }
        Self.writer.sync {}
    }

    private func writeWaiting(_ key: CacheKey, _ now: Date) {
        writing.withLock { _ in
            while let entry = state.withLock({ state -> CachedURLResponse? in
                guard let entry = state.waiting[key] else { return nil }
                state.underway = (key, isRemoved: false)
                return entry
            }) {
                write(entry, key, now)
                if settle(entry, key) { return }
            }
        }
    }

    /// Notes that the entry has been written. Returns false if a newer one waits. Only now does the entry leave the
    /// memory: until the file is there, look-ups find it here.
    private func settle(_ entry: CachedURLResponse, _ key: CacheKey) -> Bool {
        let (isDone, isRemoved) = state.withLock { state in
            if state.underway?.isRemoved == true { return (true, true) }
            state.underway = nil
            guard state.waiting[key] === entry else { return (false, false) }
            state.waiting[key] = nil
            state.waitingOctets -= entry.cost
            return (true, false)
        }
        if isRemoved {
            remove(names: [Self.name(of: key)])
            state.withLock { $0.underway = nil }
        }
        return isDone
    }

    private func forget(_ key: CacheKey) {
        state.withLock { state in
            if state.underway?.key == key { state.underway?.isRemoved = true }
            guard let entry = state.waiting.removeValue(forKey: key) else { return }
            state.waitingOctets -= entry.cost
        }
    }

    private func forgetAll() {
        state.withLock { state in
            state.waiting = [:]
            state.waitingOctets = 0
            state.underway?.isRemoved = true
        }
    }

    // MARK: Files

    private func write(_ entry: CachedURLResponse, _ key: CacheKey, _ now: Date) {
        let name = Self.name(of: key)
        let capacity = capacity
        guard entry.storagePolicy == .allowed, capacity > 0, entry.data.count <= capacity,
            let bytes = CacheFile.encode(entry, for: key, stored: now), bytes.count <= capacity
        else { return remove(names: [name]) }
        let isIndexed = refresh()
        do throws(Errno) {
            let path = directory + "/" + name
            do throws(Errno) {
                try StoreFile.replace(path, with: bytes, isDurable: false)
            } catch  where error.code == ENOENT {
                try StoreFile.makeDirectory(directory)
                try StoreFile.replace(path, with: bytes, isDurable: false)
            }
        } catch {
            return remove(names: [name])
        }
        state.withLock { state in
            state.index.set(name, (bytes.count, Self.now()))
            if isIndexed { state.index.state = StoreFile.state(directory) }
        }
        evict()
    }

    private func evict() {
        let victims = state.withLock { $0.index.victims(toFit: max($0.capacity, 0)) }
        if !victims.isEmpty { remove(names: victims) }
    }

    private func remove(names: [String]) {
        for name in names { StoreFile.remove(directory + "/" + name) }
        state.withLock { state in
            for name in names { state.index.remove(name) }
            // Without a state, the directory has not been read yet; the first look reads it.
            if state.index.state != nil { state.index.state = StoreFile.state(directory) }
        }
    }

    /// Reads the directory anew if another process has changed it, and removes what is still to be removed. Returns
    /// false if it cannot be read now: what is known of it stays, and the next look tries again.
    @discardableResult
    private func refresh() -> Bool {
        let found = StoreFile.state(directory)
        guard state.withLock({ $0.index.state != found || $0.owed != nil }) else { return true }
        do throws(Errno) {
            let index = try DiskIndex.read(directory, now: Self.now())
            state.withLock { $0.index = index }
            removeOwed(knowsAll: true)
            return true
        } catch {
            state.withLock { $0.index.state = nil }
            removeOwed(knowsAll: false)
            return false
        }
    }

    /// Returns the file's name: a quick digest to look entries up by, and 64 bits of SHA-256. A second URL with the
    /// same name is hard to make, and the key in the file tells the two apart.
    private static func name(of key: CacheKey) -> String {
        let digest =
            MessageDigest.sha256.hash(Array("\(key.method) \(key.url)".utf8).span) ?? [UInt8](repeating: 0, count: 8)
        let quick = (0..<8).map { UInt8(truncatingIfNeeded: key.quickDigest >> UInt64(56 - 8 * $0)) }
        return hexText(quick + digest.prefix(8)) + DiskIndex.suffix
    }

    private static func now(_ clock: clockid_t = CLOCK_REALTIME) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

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
    var state: StoreFile?

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
    static func read(_ directory: String, now: Int64) throws(Errno) -> DiskIndex {
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

extension StoreFile {
    /// Nanoseconds since 1970.
    var time: Int64 { seconds &* 1_000_000_000 &+ nanoseconds }
}
