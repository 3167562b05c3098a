/// Cookies by domain: those that are stored, those to send, and those to evict. A plain value; its owner deals with
/// threads, clocks and files. Times are in seconds since 1970.
public struct CookieJar: Sendable {
    /// A stored cookie. Times are in seconds since 1970.
    public struct Entry: Sendable, Equatable, Codable {
        /// The cookie.
        public var cookie: Cookie
        /// When the first cookie of its key was made: a cookie that replaces another inherits its age.
        public var creation: Double
        /// When it was last sent or set.
        public var lastAccess: Double

        /// - Parameters:
        ///   - cookie: the cookie as it was admitted.
        ///   - creation: when it was made, in seconds since 1970.
        ///   - lastAccess: when a request last carried it, in seconds since 1970.
        public init(cookie: Cookie, creation: Double, lastAccess: Double) {
            self.cookie = cookie
            self.creation = creation
            self.lastAccess = lastAccess
        }
    }

    /// The most cookies of a domain: Chrome's number. RFC 6265bis §6.1 asks for at least 50.
    public static let maximumPerDomain = 180
    /// The most cookies in all: the least that RFC 6265bis §6.1 asks for.
    public static let maximumCount = 3000
    /// The number to which a full jar is reduced, so that not every new cookie has to look at all others.
    public static let countAfterEviction = 2700
    /// The most keys in ``changes``. An owner that cannot write its file keeps them, and servers add more for ever.
    private static let maximumChanges = 2 * maximumCount
    /// The most cookies in one request, as in curl: servers refuse fields of more than 8 KiB.
    public static let maximumSent = 150
    /// The most octets of one Cookie field.
    public static let maximumHeader = 8190

    /// The entries by ``DomainHash``, so that a host's parents are found without making strings of them. Domains with
    /// the same hash share an array; every match compares the domain itself.
    private var entries: [UInt64: [Entry]] = [:]
    /// How many cookies it holds, expired ones included.
    public private(set) var count = 0
    /// The keys of cookies that were set or removed since the owner last asked. If there are thousands, those of
    /// removed cookies may be missing.
    public private(set) var changes: Set<Cookie.Key> = []
    /// Whether ``changes`` are recorded.
    public let recordsChanges: Bool
    private let seed = UInt64.random(in: .min ... .max)

    /// Makes an empty jar.
    ///
    /// - Parameter recordsChanges: whether the owner asks for ``changes``, for example to write them to a file.
    public init(recordsChanges: Bool = false) {
        self.recordsChanges = recordsChanges
    }

    // MARK: Sending

    /// Returns the entries for a request, longer paths first, then older ones (RFC 6265bis §5.8.3). Cookies that are
    /// sent are evicted later. Allocates nothing if there are none.
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

    /// Returns the Cookie field's value; nil if there is nothing to send. Cookies beyond the limits are left out.
    public mutating func header(for scope: CookieScope, isSameSite: Bool, now: Double) -> String? {
        octets(for: scope, isSameSite: isSameSite, now: now).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The same in octets: a server's own may be no UTF-8 (RFC 9110 §5.5).
    package mutating func octets(for scope: CookieScope, isSameSite: Bool, now: Double) -> [UInt8]? {
        let found = take(for: scope, isSameSite: isSameSite, now: now)
        return found.isEmpty ? nil : Self.octets(found.lazy.map(\.cookie))
    }

    /// Returns `name=value` pairs with "; " between them; of a cookie without a name the value alone (RFC 6265bis
    /// §5.8.3).
    public static func header(_ cookies: some Sequence<Cookie>) -> String? {
        octets(cookies).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The same in octets.
    package static func octets(_ cookies: some Sequence<Cookie>) -> [UInt8]? {
        var header: [UInt8] = []
        for cookie in cookies.prefix(maximumSent) {
            let pair = cookie.octets
            guard header.count + pair.count + 2 <= maximumHeader else { continue }
            if !header.isEmpty { header += "; ".utf8 }
            header += pair
        }
        return header.isEmpty ? nil : header
    }

    // MARK: Storing

    /// Stores a cookie in place of the one with its key, whose age it inherits; an expired one only removes that.
    /// Returns whether anything has changed.
    @discardableResult
    public mutating func set(_ cookie: Cookie, creation: Double, now: Double) -> Bool {
        guard !cookie.isExpired(at: now) else { return remove(cookie.key) }
        let hash = hash(cookie.domain)
        var bucket = entries.removeValue(forKey: hash) ?? []
        let key = cookie.key
        if let place = bucket.firstIndex(where: { $0.cookie.key == key }) {
            let old = bucket[place]
            bucket[place] = Entry(cookie: cookie, creation: old.creation, lastAccess: now)
            entries[hash] = bucket
            // Strings that Swift calls equal may have other octets.
            guard old.cookie != cookie || old.cookie.octets != cookie.octets else { return false }
        } else {
            bucket.append(Entry(cookie: cookie, creation: creation, lastAccess: now))
            entries[hash] = bucket
            count += 1
        }
        note(key)
        return true
    }

    /// Whether a cookie from an answer without TLS would replace a secure one, or hide it (RFC 6265bis §5.7).
    public func overlaysSecure(_ cookie: Cookie) -> Bool {
        guard count > 0 else { return false }
        let key = cookie.key
        return entries.values.contains { bucket in
            bucket.contains { entry in
                let other = entry.cookie
                return other.isSecure && other.key.hasName(of: key)
                    && (other.domain == cookie.domain || CookieScope.host(other.domain, isBelow: cookie.domain)
                        || CookieScope.host(cookie.domain, isBelow: other.domain))
                    && CookieScope.path(cookie.path[...].utf8, matches: other.path)
            }
        }
    }

    /// Removes a cookie. Returns whether there was one.
    @discardableResult
    public mutating func remove(_ key: Cookie.Key) -> Bool {
        removeAll(in: hash(key.domain)) { $0.cookie.key == key }
    }

    /// Removes cookies. Returns whether there were any.
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

    /// Reduces a domain, and then the jar, to its limit: expired cookies go first, then in a domain those that are not
    /// secure, then the one that was not used for the longest time (RFC 6265bis §5.7).
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

    /// Returns the cookie of that key, expired or not.
    public func entry(_ key: Cookie.Key) -> Entry? {
        entries[hash(key.domain)]?.first { $0.cookie.key == key }
    }

    /// Returns all that have not expired, in no order.
    public func all(at now: Double) -> [Entry] {
        entries.values.flatMap { bucket in bucket.filter { !$0.cookie.isExpired(at: now) } }
    }

    /// Returns what was set or removed since the last call.
    public mutating func takeChanges() -> Set<Cookie.Key> {
        defer { changes = [] }
        return changes
    }

    /// Takes back changes that could not be written.
    public mutating func restoreChanges(_ keys: Set<Cookie.Key>) {
        // The smaller set is added to the larger one.
        if keys.count > changes.count { changes = keys.union(changes) } else { changes.formUnion(keys) }
        limitChanges()
    }

    /// Takes the cookies that another process has stored. Cookies that were changed here since the last exchange, or
    /// that end with this process, stay as they are. Returns whether anything has changed.
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
        guard recordsChanges else { return }
        limitChanges()
        changes.insert(key)
    }

    /// Forgets the keys of removed cookies if there are too many keys: the file cannot be written, and what it holds of
    /// those cookies is read again only if another process changes it.
    private mutating func limitChanges() {
        guard changes.count >= Self.maximumChanges else { return }
        changes = changes.filter { entry($0) != nil }
    }

    private func hash(_ domain: String) -> UInt64 {
        var hash = DomainHash(seed)
        for octet in domain.utf8.reversed() { hash.add(octet) }
        return hash.value
    }
}

/// A hash over a host's octets from the last to the first (FNV-1a): on its way it has the hash of every parent domain.
private struct DomainHash {
    private(set) var value: UInt64

    /// - Parameter seed: a random number; otherwise a server could choose domains whose hashes are all equal.
    init(_ seed: UInt64) {
        value = seed ^ 0xCBF2_9CE4_8422_2325
    }

    mutating func add(_ octet: UInt8) {
        value = (value ^ UInt64(octet)) &* 0x0000_0100_0000_01B3
    }
}
