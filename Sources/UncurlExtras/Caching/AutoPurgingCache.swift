internal import Synchronization

/// Keeps values in memory up to a capacity, each with a cost. Above the capacity, the least recently used values are
/// removed until the rest costs at most a preferred amount, so that not every addition purges. The value that was added
/// last always stays.
///
/// No method blocks or runs the program's code while it holds the lock. Every method may be called on any thread.
///
/// ```swift
/// let cache = AutoPurgingCache<URL, Data>(capacity: 50 << 20, preferredAfterPurge: 30 << 20) { $0.count }
/// ```
public final class AutoPurgingCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// 100 MiB: some 25 photographs in screen size.
    public static var defaultCapacity: Int { 100 << 20 }
    /// 60 MiB: what remains after a purge of a cache with the default capacity.
    public static var defaultPreferredAfterPurge: Int { 60 << 20 }

    /// A value with its cost and the number of its last use; each use has its own number.
    private typealias Entry = (value: Value, cost: Int, used: UInt64)

    private typealias State = (entries: [Key: Entry], usage: Int, uses: UInt64)

    /// The highest total cost of all values.
    public let capacity: Int
    /// The highest total cost after a purge.
    public let preferredAfterPurge: Int
    private let state = Mutex<State>(([:], 0, 0))
    private let cost: @Sendable (Value) -> Int
    private let admits: @Sendable (Key, Value) -> Bool

    /// An empty cache.
    ///
    /// - Parameters:
    ///   - capacity: the highest total cost of all values.
    ///   - preferredAfterPurge: the highest total cost after a purge; at most the capacity.
    ///   - admits: whether a value may be kept. Called on the thread that adds the value.
    ///   - cost: the cost of a value, in the capacity's unit; a negative cost counts as zero.
    public init(
        capacity: Int = defaultCapacity,
        preferredAfterPurge: Int = defaultPreferredAfterPurge,
        admits: @escaping @Sendable (Key, Value) -> Bool = { _, _ in true },
        cost: @escaping @Sendable (Value) -> Int
    ) {
        // Half of `Int.max`, so that the usage plus one more value cannot overflow.
        self.capacity = min(max(0, capacity), Int.max / 2)
        self.preferredAfterPurge = max(0, min(preferredAfterPurge, self.capacity))
        self.admits = admits
        self.cost = cost
    }

    /// The total cost of all values.
    public var usage: Int { state.withLock { $0.usage } }

    /// The number of values.
    public var count: Int { state.withLock { $0.entries.count } }

    /// Keeps a value, in place of the one with the same key.
    ///
    /// - Returns: whether the value is kept. It is not if `admits` of
    ///   ``init(capacity:preferredAfterPurge:admits:cost:)`` returns false, or if its cost alone exceeds the capacity.
    ///   The earlier value of the key is removed in any case.
    @discardableResult
    public func add(_ value: Value, for key: Key) -> Bool {
        let cost = max(0, cost(value))
        guard cost <= capacity, admits(key, value) else {
            remove(key)
            return false
        }
        // Releasing a value may run the program's code.
        let gone = state.withLock { state -> [Entry] in
            state.uses += 1
            var gone = [state.entries.updateValue((value, cost, state.uses), forKey: key)]
                .compactMap(\.self)
            for entry in gone { state.usage -= entry.cost }
            state.usage += cost
            if state.usage > capacity { gone += Self.purge(&state, to: preferredAfterPurge, sparing: key) }
            return gone
        }
        _ = consume gone
        return true
    }

    /// The value of a key. Reading a value counts as its last use.
    public func value(for key: Key) -> Value? {
        state.withLock { state in
            guard var entry = state.entries[key] else { return nil }
            state.uses += 1
            entry.used = state.uses
            state.entries[key] = entry
            return entry.value
        }
    }

    /// - Returns: whether the key had a value.
    @discardableResult
    public func remove(_ key: Key) -> Bool {
        let gone = state.withLock { state in
            let entry = state.entries.removeValue(forKey: key)
            state.usage -= entry?.cost ?? 0
            return entry
        }
        return gone != nil
    }

    /// - Returns: whether there was any value.
    @discardableResult
    public func removeAll() -> Bool {
        let gone = state.withLock { state in
            let entries = state.entries
            state.entries = [:]
            state.usage = 0
            return entries
        }
        return !gone.isEmpty
    }

    /// Removes the least recently used values until the rest costs at most `amount`. For programs that learn of low
    /// memory.
    public func purge(to amount: Int) {
        let gone = state.withLock { Self.purge(&$0, to: max(0, amount), sparing: nil) }
        _ = consume gone
    }

    /// - Parameter sparing: the key that has just been added. Its value stays, even if it costs more than `amount`.
    private static func purge(_ state: inout State, to amount: Int, sparing: Key?) -> [Entry] {
        var gone: [Entry] = []
        for (key, entry) in state.entries.sorted(by: { $0.value.used < $1.value.used }) {
            guard state.usage > amount, key != sparing else { break }
            state.entries[key] = nil
            state.usage -= entry.cost
            gone.append(entry)
        }
        return gone
    }
}
