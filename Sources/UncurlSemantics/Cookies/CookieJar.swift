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

    /// An entry with its cookie's key, which is made once, since a name may be long.
    private typealias Item = (entry: Entry, key: Cookie.Key)

    /// The entries by the hash of their domains, so that a host's parents are found without making strings of
    /// them. Domains with the same hash share an array; every match compares the domain itself.
    private var entries: [UInt64: [Item]] = [:]
    /// The keys of secure cookies by the hash of their names.
    private var secureKeys: [UInt64: Set<Cookie.Key>] = [:]
    /// How many cookies it holds, expired ones included.
    public private(set) var count = 0
    /// The keys of cookies that were set or removed since the owner last asked. If there are thousands, those of
    /// removed cookies may be missing.
    public private(set) var changes: Set<Cookie.Key> = []
    /// Whether ``changes`` are recorded.
    public let recordsChanges: Bool
    /// The beginning of each hash. It is random: otherwise a server could choose domains whose hashes are all equal.
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
        var hash = seed
        for octet in scope.host.utf8.reversed() {
            if octet == UInt8(ascii: ".") { touch(hash, scope, isSameSite, now, &found) }
            hash = Self.hash(hash, octet)
        }
        touch(hash, scope, isSameSite, now, &found)
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
            let entry = entries.values[index][place].entry
            guard !entry.cookie.isExpired(at: now), entry.cookie.isFor(scope, isSameSite: isSameSite) else { continue }
            entries.values[index][place].entry.lastAccess = now
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
        var item: Item = (Entry(cookie: cookie, creation: creation, lastAccess: now), cookie.key)
        let hash = hash(cookie.domain)
        guard let place = entries[hash]?.firstIndex(where: { $0.key == item.key }), let old = entries[hash]?[place]
        else {
            append(item)
            note(item.key)
            return true
        }
        item.entry.creation = old.entry.creation
        entries[hash]?[place] = item
        if old.entry.cookie.isSecure != cookie.isSecure {
            forgetSecure(old)
            noteSecure(item)
        }
        // Strings that Swift calls equal may have other octets.
        guard old.entry.cookie != cookie || old.entry.cookie.octets != cookie.octets else { return false }
        note(item.key)
        return true
    }

    private mutating func append(_ item: Item) {
        entries[hash(item.key.domain), default: []].append(item)
        count += 1
        noteSecure(item)
    }

    private mutating func noteSecure(_ item: Item) {
        guard item.entry.cookie.isSecure else { return }
        secureKeys[hash(item.key.name), default: []].insert(item.key)
    }

    private mutating func forgetSecure(_ item: Item) {
        guard item.entry.cookie.isSecure else { return }
        let hash = hash(item.key.name)
        secureKeys[hash]?.remove(item.key)
        if secureKeys[hash]?.isEmpty == true { secureKeys[hash] = nil }
    }

    /// Whether a cookie from an answer without TLS would replace a secure one, or hide it (RFC 6265bis §5.7).
    public func overlaysSecure(_ cookie: Cookie) -> Bool {
        guard !secureKeys.isEmpty, let others = secureKeys[hash(cookie.name)] else { return false }
        let key = cookie.key
        return others.contains { other in
            (other.domain == key.domain || CookieScope.host(other.domain, isBelow: key.domain)
                || CookieScope.host(key.domain, isBelow: other.domain))
                && CookieScope.path(key.path[...].utf8, matches: other.path) && other.hasName(of: key)
        }
    }

    /// Removes a cookie. Returns whether there was one.
    @discardableResult
    public mutating func remove(_ key: Cookie.Key) -> Bool {
        let hash = hash(key.domain)
        guard let place = entries[hash]?.firstIndex(where: { $0.key == key }) else { return false }
        remove(at: place, in: hash)
        return true
    }

    /// Removes cookies. Returns whether there were any.
    @discardableResult
    public mutating func removeAll(where isUnwanted: (Entry) -> Bool) -> Bool {
        var isChanged = false
        for hash in Array(entries.keys) where removeAll(in: hash, where: isUnwanted) { isChanged = true }
        return isChanged
    }

    private mutating func removeAll(in hash: UInt64, where isUnwanted: (Entry) -> Bool) -> Bool {
        guard let bucket = entries[hash], let first = bucket.firstIndex(where: { isUnwanted($0.entry) }) else {
            return false
        }
        var kept = Array(bucket[..<first])
        var removed = [bucket[first]]
        for item in bucket[(first + 1)...] {
            if isUnwanted(item.entry) { removed.append(item) } else { kept.append(item) }
        }
        entries[hash] = kept.isEmpty ? nil : kept
        for item in removed { noteRemoval(of: item) }
        return true
    }

    private mutating func remove(at place: Int, in hash: UInt64) {
        guard let item = entries[hash]?.remove(at: place) else { return }
        if entries[hash]?.isEmpty == true { entries[hash] = nil }
        noteRemoval(of: item)
    }

    private mutating func noteRemoval(of item: Item) {
        count -= 1
        forgetSecure(item)
        note(item.key)
    }

    // MARK: Limits

    /// Reduces a domain, and then the jar, to its limit: expired cookies go first, then in a domain those that are not
    /// secure, then the one that was not used for the longest time (RFC 6265bis §5.7).
    public mutating func evict(after domain: String, now: Double) {
        let hash = hash(domain)
        if entries[hash]?.count ?? 0 > Self.maximumPerDomain {
            _ = removeAll(in: hash) { $0.cookie.isExpired(at: now) }
            while let place = firstToLeave(hash) { remove(at: place, in: hash) }
        }
        guard count > Self.maximumCount else { return }
        removeAll { $0.cookie.isExpired(at: now) }
        guard count > Self.maximumCount else { return }
        let byAge = all(at: now).sorted { $0.lastAccess < $1.lastAccess }
        for entry in byAge.prefix(count - Self.countAfterEviction) { remove(entry.cookie.key) }
    }

    /// Returns the place of the cookie that leaves a domain next; nil for a domain within its limit.
    private func firstToLeave(_ hash: UInt64) -> Int? {
        guard let bucket = entries[hash], bucket.count > Self.maximumPerDomain else { return nil }
        return bucket.indices.min { left, right in
            let (left, right) = (bucket[left].entry, bucket[right].entry)
            guard left.cookie.isSecure == right.cookie.isSecure else { return right.cookie.isSecure }
            return left.lastAccess < right.lastAccess
        }
    }

    // MARK: The owner's view

    /// Returns the cookie of that key, expired or not.
    public func entry(_ key: Cookie.Key) -> Entry? {
        entries[hash(key.domain)]?.first { $0.key == key }?.entry
    }

    /// Returns all that have not expired, in no order.
    public func all(at now: Double) -> [Entry] {
        entries.values.flatMap { bucket in bucket.lazy.map(\.entry).filter { !$0.cookie.isExpired(at: now) } }
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
            append((entry, entry.cookie.key))
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

    private func hash(_ text: String) -> UInt64 {
        text.utf8.reversed().reduce(seed, Self.hash)
    }

    /// A hash over octets from the last to the first (FNV-1a): on its way through a host it has the hash of every
    /// parent domain.
    private static func hash(_ value: UInt64, _ octet: UInt8) -> UInt64 {
        (value ^ UInt64(octet)) &* 0x0000_0100_0000_01B3
    }
}

/// The parts of a request's URL that matter to cookies.
public struct CookieScope: Sendable, Equatable {
    /// The host in lower case, without brackets, an IDN in ASCII. A trailing dot makes another host (RFC 6265bis
    /// §5.1.2).
    public let host: String
    /// Whether the host is an IP address, which has no names below it.
    public let isAddress: Bool
    /// The target as it is sent, with its query: a separate path would be another string.
    private let target: String
    private let pathLength: Int
    /// The URL's port, or its scheme's default.
    public let port: UInt16
    /// Whether the scheme is https or wss.
    public let isSecure: Bool

    /// - Parameters:
    ///   - host: in lower case, without brackets.
    ///   - isAddress: whether the host is an IP address.
    ///   - port: the request's port.
    ///   - target: path and query, percent-encoded. A target that does not begin with a slash counts as "/".
    ///   - isSecure: whether it is for `https` or `wss`.
    public init(host: String, isAddress: Bool, port: UInt16, target: String, isSecure: Bool) {
        self.host = host
        self.isAddress = isAddress
        self.port = port
        self.target = target.utf8.first == UInt8(ascii: "/") ? target : "/"
        pathLength = self.target.utf8.prefix { $0 != UInt8(ascii: "?") }.count
        self.isSecure = isSecure
    }

    /// Makes the scope of a request to this URL.
    public init(_ url: HTTPURL) {
        self.init(
            host: url.origin.host,
            isAddress: url.host.isAddress,
            port: url.port,
            target: url.target,
            isSecure: url.origin.isSecure
        )
    }

    /// The path, percent-encoded and without the query; never empty.
    public var path: Substring.UTF8View { target.utf8.prefix(pathLength) }

    /// Whether the host is the domain or a name below it: domain-match (RFC 6265bis §5.1.3).
    public func matches(domain: String) -> Bool {
        if host == domain { return true }
        return !isAddress && Self.host(host, isBelow: domain)
    }

    /// Whether the host is the domain with labels before it. The dot is needed: `notexample.com` is not below
    /// `example.com`.
    public static func host(_ host: String, isBelow domain: String) -> Bool {
        let difference = host.utf8.count - domain.utf8.count
        guard difference > 1, !domain.isEmpty, host.utf8.dropFirst(difference).elementsEqual(domain.utf8) else {
            return false
        }
        return host.utf8.dropFirst(difference - 1).first == UInt8(ascii: ".")
    }

    /// Whether a cookie's path covers a path: path-match (RFC 6265bis §5.1.4). `/foo` covers `/foo` and `/foo/bar`, but
    /// not `/foobar`.
    public static func path(_ path: Substring.UTF8View, matches cookiePath: String) -> Bool {
        guard path.starts(with: cookiePath.utf8) else { return false }
        let rest = path.dropFirst(cookiePath.utf8.count)
        return rest.isEmpty || cookiePath.utf8.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
    }

    /// The path up to its last slash, without that: default-path (RFC 6265bis §5.1.4).
    public var defaultPath: String {
        guard path.first == UInt8(ascii: "/"), let slash = path.lastIndex(of: UInt8(ascii: "/")),
            slash > path.startIndex
        else { return "/" }
        return String(Substring(path[..<slash]))
    }

    /// Whether both are of the same site (RFC 6265bis §5.2): the same host, or hosts of one registrable domain.
    public func isSameSite(as other: CookieScope, suffixes: PublicSuffixes = .list) -> Bool {
        guard other.host != host else { return true }
        guard !isAddress, !other.isAddress else { return false }
        return suffixes.areSameSite(host, other.host)
    }
}
