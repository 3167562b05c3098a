internal import CUncurlOpenSSL
internal import Synchronization

/// The sessions to resume of one ``TLSContext``: trust settings, versions and ALPN are the same for all of them. The
/// key holds what else distinguishes peers. Each session's `Provenance` holds what the program decided, where it is
/// asked.
///
/// A TLS 1.3 ticket is used once (RFC 8446 §C.4): most servers refuse it the second time, and an observer on the way
/// could link the connections. A TLS 1.2 session stays until it is refused or too old.
public final class SessionCache: Sendable {
    private let hostLimit: Int
    private let ticketsPerHost: Int

    private struct Shelf {
        /// The sessions of one peer, the newest last.
        var sessions: [CachedSession] = []
        var lastUse: UInt64 = 0
    }

    private struct State {
        var shelves: [String: Shelf] = [:]
        var clock: UInt64 = 0
        /// The number of times that everything has been removed.
        var generation = 0
        /// The roots that verified all of the sessions. Nil where nothing is verified.
        var anchors: TrustAnchors?
    }

    private let state = Mutex(State())

    init(hostLimit: Int, ticketsPerHost: Int) {
        self.hostLimit = max(1, hostLimit)
        self.ticketsPerHost = max(1, ticketsPerHost)
    }

    /// The number of sessions of all peers together.
    public var count: Int { state.withLock { $0.shelves.values.reduce(0) { $0 + $1.sessions.count } } }

    /// Removes all sessions. Connections that began before add none to the cache afterwards.
    public func removeAll() {
        state.withLock { state in
            state.shelves = [:]
            state.generation += 1
        }
    }

    var generation: Int { state.withLock { $0.generation } }

    /// Returns the conditions of the newest session that is still usable. A session that was made under other roots
    /// does not count: roots that were removed since must not stay trusted.
    func newest(_ key: String, under anchors: TrustAnchors?) -> Provenance? {
        state.withLock { state in
            SessionCache.settle(&state, anchors)
            guard let index = state.shelves.index(forKey: key) else { return nil }
            state.shelves.values[index].sessions.removeAll { !$0.isUsable }
            if let newest = state.shelves.values[index].sessions.last { return newest.provenance }
            state.shelves.remove(at: index)
            return nil
        }
    }

    /// Takes the newest session that is still usable and was made under just these conditions and these roots.
    func take(_ key: String, under anchors: TrustAnchors?, made provenance: Provenance) -> CachedSession? {
        state.withLock { state in
            SessionCache.settle(&state, anchors)
            guard let index = state.shelves.index(forKey: key) else { return nil }
            state.clock &+= 1
            state.shelves.values[index].lastUse = state.clock
            let sessions = state.shelves.values[index].sessions
            guard let place = sessions.lastIndex(where: { $0.isUsable && $0.provenance.matches(provenance) }) else {
                return nil
            }
            if sessions[place].isForOneUse { state.shelves.values[index].sessions.remove(at: place) }
            if state.shelves.values[index].sessions.isEmpty { state.shelves.remove(at: index) }
            return sessions[place]
        }
    }

    /// Keeps a session, unless it cannot be used even now.
    ///
    /// - Parameter generation: The cache's generation when the session's connection began.
    func put(_ session: CachedSession, _ key: String, under anchors: TrustAnchors?, of generation: Int) {
        state.withLock { state in
            guard generation == state.generation, session.isUsable else { return }
            SessionCache.settle(&state, anchors)
            state.clock &+= 1
            var shelf = state.shelves.removeValue(forKey: key) ?? Shelf()
            shelf.lastUse = state.clock
            let isForOneUse = session.isForOneUse
            shelf.sessions.removeAll { other in
                // A server has one version. Of TLS 1.2, the newest of those sessions that are alike is enough.
                other.isForOneUse != isForOneUse
                    || !isForOneUse && other.provenance.matches(session.provenance)
            }
            if shelf.sessions.count == ticketsPerHost { shelf.sessions.removeFirst() }
            shelf.sessions.append(session)
            if state.shelves.count >= hostLimit,
                let stalest = state.shelves.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.shelves.removeValue(forKey: stalest.key)
            }
            state.shelves[key] = shelf
        }
    }

    private static func settle(_ state: inout State, _ anchors: TrustAnchors?) {
        guard state.anchors !== anchors else { return }
        state.anchors = anchors
        state.shelves = [:]
    }

    /// Removes a session whose handshake failed.
    func remove(_ session: CachedSession, _ key: String) {
        state.withLock { state in
            guard let index = state.shelves.index(forKey: key) else { return }
            state.shelves.values[index].sessions.removeAll { $0 === session }
        }
    }
}
