/// Cookies by domain: what is kept, what is sent, what has to go. A plain value; its owner knows threads, clocks and
/// files. Times are in seconds since 1970.
public struct CookieJar: Sendable {
    /// A cookie as a jar keeps it. Times are in seconds since 1970.
    public struct Entry: Sendable, Equatable, Codable {
        /// The cookie.
        public var cookie: Cookie
        /// When the first cookie of its key was made: what replaces a cookie inherits its age.
        public var creation: Double
        /// When it was last sent, or set.
        public var lastAccess: Double

        /// - Parameters:
        ///   - cookie: as it was admitted.
        ///   - creation: seconds since 1970, as `lastAccess`.
        ///   - lastAccess: when a request carried it last, in seconds since 1970.
        public init(cookie: Cookie, creation: Double, lastAccess: Double) {
            self.cookie = cookie
            self.creation = creation
            self.lastAccess = lastAccess
        }
    }

    /// Chrome's number; RFC 6265bis §6.1 asks for 50 at least.
    public static let maximumPerDomain = 180
    /// What RFC 6265bis §6.1 asks for at least.
    public static let maximumCount = 3000
    /// Where a full jar is cut back to, so that not every new cookie looks at all others.
    public static let countAfterEviction = 2700
    /// What curl sends: servers refuse fields of more than 8 KiB.
    public static let maximumSent = 150
    /// Octets of one Cookie field.
    public static let maximumHeader = 8190

    /// By ``DomainHash``, so that a host's parents are found without making strings of them. Who shares a hash by
    /// chance shares an array; every match compares the domain itself.
    private var entries: [UInt64: [Entry]] = [:]
    /// How many cookies it holds, those that have expired unnoticed too.
    public private(set) var count = 0
    /// What was set or removed since the owner last asked.
    public private(set) var changes: Set<Cookie.Key> = []
    /// Whether anybody will ask.
    public let recordsChanges: Bool
    private let seed = UInt64.random(in: .min ... .max)

    /// An empty jar.
    ///
    /// - Parameter recordsChanges: whether the owner asks for ``changes``, as one does that writes them to a file.
    public init(recordsChanges: Bool = false) {
        self.recordsChanges = recordsChanges
    }

    // MARK: Sending

    /// The entries for a request, longer paths first, then older ones (RFC 6265bis §5.8.3). Being sent keeps them from
    /// being evicted. No allocation where there are none.
    public mutating func take(for scope: CookieScope, isSameSite: Bool, now: Double) -> [Entry] {
        guard count > 0 else { return [] }
        var found: [Entry] = []
        var hash = DomainHash(seed)
        for octet in scope.host.utf8.reversed() {
            if octet == UInt8(ascii: ".") { touch(hash.value, scope, isSameSite, now, &found) }
            hash.add(octet)
        }
        touch(hash.value, scope, isSameSite, now, &found)
        if found.count > 1 {
            found.sort {
                let (left, right) = ($0.cookie.path.utf8.count, $1.cookie.path.utf8.count)
                return left == right ? $0.creation < $1.creation : left > right
            }
        }
        return found
    }

    private mutating func touch(
        _ key: UInt64,
        _ scope: CookieScope,
        _ isSameSite: Bool,
        _ now: Double,
        _ found: inout [Entry]
    ) {
        guard let index = entries.index(forKey: key) else { return }
        for place in entries.values[index].indices {
            let entry = entries.values[index][place]
            guard !entry.cookie.isExpired(at: now), entry.cookie.isFor(scope, isSameSite: isSameSite) else { continue }
            entries.values[index][place].lastAccess = now
            found.append(entry)
        }
    }

    /// The Cookie field's value; nil where there is nothing to send. Those past the limits stay behind.
    public mutating func header(for scope: CookieScope, isSameSite: Bool, now: Double) -> String? {
        let found = take(for: scope, isSameSite: isSameSite, now: now)
        return found.isEmpty ? nil : Self.header(found.lazy.map(\.cookie))
    }

    /// `name=value` with "; " between; a cookie without a name is its value alone (RFC 6265bis §5.8.3).
    public static func header(_ cookies: some Sequence<Cookie>) -> String? {
        var header = ""
        for cookie in cookies.prefix(maximumSent) {
            let length = cookie.name.utf8.count + cookie.value.utf8.count + 3
            guard header.utf8.count + length <= maximumHeader else { continue }
            if !header.isEmpty { header += "; " }
            if !cookie.name.isEmpty {
                header += cookie.name
                header += "="
            }
            header += cookie.value
        }
        return header.isEmpty ? nil : header
    }

    // MARK: Keeping

    /// Keeps a cookie in place of the one with its key, whose age it inherits; an expired one only removes that. Says
    /// whether anything is different now.
    @discardableResult
    public mutating func set(_ cookie: Cookie, creation: Double, now: Double) -> Bool {
        guard !cookie.isExpired(at: now) else { return remove(cookie.key) }
        let hash = hash(cookie.domain)
        var bucket = entries.removeValue(forKey: hash) ?? []
        defer { entries[hash] = bucket }
        let key = cookie.key
        if let place = bucket.firstIndex(where: { $0.cookie.key == key }) {
            let old = bucket[place]
            bucket[place] = Entry(cookie: cookie, creation: old.creation, lastAccess: now)
            guard old.cookie != cookie else { return false }
        } else {
            bucket.append(Entry(cookie: cookie, creation: creation, lastAccess: now))
            count += 1
        }
        note(key)
        return true
    }

    /// Whether a cookie from an unprotected answer would take the place of a protected one, or hide it (RFC 6265bis
    /// §5.7).
    public func overlaysSecure(_ cookie: Cookie) -> Bool {
        guard count > 0 else { return false }
        return entries.values.contains { bucket in
            bucket.contains { entry in
                let other = entry.cookie
                return other.isSecure && other.name == cookie.name
                    && (other.domain == cookie.domain || CookieScope.host(other.domain, isBelow: cookie.domain)
                        || CookieScope.host(cookie.domain, isBelow: other.domain))
                    && CookieScope.path(cookie.path[...].utf8, matches: other.path)
            }
        }
    }

    /// Says whether there was one.
    @discardableResult
    public mutating func remove(_ key: Cookie.Key) -> Bool {
        removeAll(in: hash(key.domain)) { $0.cookie.key == key }
    }

    /// Says whether there was any.
    @discardableResult
    public mutating func removeAll(where isUnwanted: (Entry) -> Bool) -> Bool {
        var isChanged = false
        for hash in Array(entries.keys) where removeAll(in: hash, where: isUnwanted) { isChanged = true }
        return isChanged
    }

    private mutating func removeAll(in hash: UInt64, where isUnwanted: (Entry) -> Bool) -> Bool {
        guard let bucket = entries[hash] else { return false }
        let kept = bucket.filter { !isUnwanted($0) }
        guard kept.count < bucket.count else { return false }
        for entry in bucket where isUnwanted(entry) { note(entry.cookie.key) }
        count -= bucket.count - kept.count
        entries[hash] = kept.isEmpty ? nil : kept
        return true
    }

    // MARK: Limits

    /// Brings a domain, and then the jar, below its limit: expired ones go first, then in a domain those that are not
    /// secure, then the one that was not used the longest (RFC 6265bis §5.7).
    public mutating func evict(after domain: String, now: Double) {
        let hash = hash(domain)
        if let bucket = entries[hash], bucket.count > Self.maximumPerDomain {
            _ = removeAll(in: hash) { $0.cookie.isExpired(at: now) }
            while let bucket = entries[hash], bucket.count > Self.maximumPerDomain {
                let weak = bucket.filter { !$0.cookie.isSecure }
                guard let oldest = (weak.isEmpty ? bucket : weak).min(by: { $0.lastAccess < $1.lastAccess }) else {
                    break
                }
                _ = remove(oldest.cookie.key)
            }
        }
        guard count > Self.maximumCount else { return }
        removeAll { $0.cookie.isExpired(at: now) }
        guard count > Self.maximumCount else { return }
        let byAge = all(at: now).sorted { $0.lastAccess < $1.lastAccess }
        for entry in byAge.prefix(count - Self.countAfterEviction) { remove(entry.cookie.key) }
    }

    // MARK: The owner's view

    /// The cookie of that key, expired or not.
    public func entry(_ key: Cookie.Key) -> Entry? {
        entries[hash(key.domain)]?.first { $0.cookie.key == key }
    }

    /// All that have not expired, in no order.
    public func all(at now: Double) -> [Entry] {
        entries.values.flatMap { bucket in bucket.filter { !$0.cookie.isExpired(at: now) } }
    }

    /// What was set or removed since this was called last.
    public mutating func takeChanges() -> Set<Cookie.Key> {
        defer { changes = [] }
        return changes
    }

    /// Takes back what could not be written.
    public mutating func restoreChanges(_ keys: Set<Cookie.Key>) {
        changes.formUnion(keys)
    }

    /// Takes over what another process keeps. What was changed here since the last exchange, or ends with this process,
    /// stays as it is. Says whether anything is different now.
    public mutating func adopt(_ others: [Entry], except changed: Set<Cookie.Key>, now: Double) -> Bool {
        let mine = changed.union(changes)
        let before = Set(all(at: now).map(\.cookie))
        let recorded = changes
        removeAll { $0.cookie.isPersistent && !mine.contains($0.cookie.key) }
        for entry in others where !mine.contains(entry.cookie.key) && !entry.cookie.isExpired(at: now) {
            remove(entry.cookie.key)
            entries[hash(entry.cookie.domain), default: []].append(entry)
            count += 1
        }
        changes = recorded
        return before != Set(all(at: now).map(\.cookie))
    }

    private mutating func note(_ key: Cookie.Key) {
        if recordsChanges { changes.insert(key) }
    }

    private func hash(_ domain: String) -> UInt64 {
        var hash = DomainHash(seed)
        for octet in domain.utf8.reversed() { hash.add(octet) }
        return hash.value
    }
}

/// A host's octets from the last to the first, so that on its way it is the hash of every parent (FNV-1a).
private struct DomainHash {
    private(set) var value: UInt64

    /// - Parameter seed: of chance, or a server could choose domains that all fall together.
    init(_ seed: UInt64) {
        value = seed ^ 0xCBF2_9CE4_8422_2325
    }

    mutating func add(_ octet: UInt8) {
        value = (value ^ UInt64(octet)) &* 0x0000_0100_0000_01B3
    }
}
