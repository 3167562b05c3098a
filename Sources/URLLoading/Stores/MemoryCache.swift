internal import Foundation
internal import UncurlSemantics

/// The part of a cache that is in memory, up to a number of octets. It evicts what was used least recently.
///
/// The nodes are a doubly linked list in an array, so that neither a look-up nor an eviction moves or searches other
/// nodes.
struct MemoryCache: Sendable {
    private struct Node {
        var key: CacheKey
        var value: CachedURLResponse
        var cost: Int
        var stored: Date
        var newer: Int
        var older: Int
    }

    private var places: [CacheKey: Int] = [:]
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var newest = -1
    private var oldest = -1
    /// In octets.
    private(set) var usage = 0
    /// The number of stores and removals. It shows whether something that was read from disk may be out of date.
    private(set) var changes: UInt64 = 0
    var capacity: Int {
        didSet { shrink() }
    }

    init(capacity: Int) {
        self.capacity = capacity
    }

    var isEmpty: Bool { places.isEmpty }

    mutating func value(for key: CacheKey) -> CachedURLResponse? {
        guard let place = places[key], let node = nodes[place] else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return node.value
    }

    /// Stores the value if it fits at all. An older one for the key is removed in any case.
    mutating func store(_ value: CachedURLResponse, for key: CacheKey, now: Date) {
        remove(key)
        let cost = value.cost
        guard cost <= capacity else { return }
        let node = Node(key: key, value: value, cost: cost, stored: now, newer: -1, older: -1)
        let place: Int
        if let reused = free.popLast() {
            place = reused
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[key] = place
        usage += cost
        link(place)
        shrink()
    }

    /// Stores what was read from disk. If anything was stored or removed since the reading began, what was read may be
    /// out of date, and is not stored.
    ///
    /// - Parameter changes: ``changes`` when the reading began.
    mutating func keep(_ read: CachedURLResponse, for key: CacheKey, asOf changes: UInt64, now: Date) {
        if self.changes == changes, places[key] == nil { store(read, for: key, now: now) }
    }

    @discardableResult
    mutating func remove(_ key: CacheKey) -> Bool {
        changes &+= 1
        guard let place = places.removeValue(forKey: key), let node = nodes[place] else { return false }
        unlink(place)
        nodes[place] = nil
        free.append(place)
        usage -= node.cost
        return true
    }

    mutating func removeAll() {
        let changes = changes &+ 1
        self = MemoryCache(capacity: capacity)
        self.changes = changes
    }

    mutating func removeAll(storedSince date: Date) {
        changes &+= 1
        for node in nodes.compactMap(\.self) where node.stored >= date { remove(node.key) }
    }

    private mutating func shrink() {
        while usage > capacity, oldest >= 0, let node = nodes[oldest] { remove(node.key) }
    }

    private mutating func link(_ place: Int) {
        nodes[place]?.newer = -1
        nodes[place]?.older = newest
        if newest >= 0 { nodes[newest]?.newer = place }
        newest = place
        if oldest < 0 { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if node.newer >= 0 { nodes[node.newer]?.older = node.older } else { newest = node.older }
        if node.older >= 0 { nodes[node.older]?.newer = node.newer } else { oldest = node.newer }
    }
}
