internal import COpenSSL
internal import Synchronization

/// Sessions to resume, of one ``TLSContext``: trust settings, identity, versions and ALPN are the same for all of them.
/// What else tells peers apart is in the key.
///
/// A TLS 1.3 ticket is handed out once (RFC 8446 §C.4): presented again, most servers refuse it, and whoever watches
/// could link the connections. A TLS 1.2 session stays until it is refused or too old.
public final class SessionCache: Sendable {
    private let hostLimit: Int
    private let ticketsPerHost: Int

    private struct Shelf {
        /// The newest last.
        var sessions: [CachedSession] = []
        var lastUse: UInt64 = 0
    }

    private struct State {
        var shelves: [String: Shelf] = [:]
        var clock: UInt64 = 0
        /// The roots that all of them were verified under; nil where nothing is verified.
        var anchors: TrustAnchors?
    }

    private let state = Mutex(State())

    init(hostLimit: Int, ticketsPerHost: Int) {
        self.hostLimit = max(1, hostLimit)
        self.ticketsPerHost = max(1, ticketsPerHost)
    }

    /// How many sessions wait, for all peers together.
    public var count: Int { state.withLock { $0.shelves.values.reduce(0) { $0 + $1.sessions.count } } }

    public func removeAll() { state.withLock { $0.shelves = [:] } }

    /// The newest session that is still good. None that was made under other roots: those since gone must not be
    /// trusted on.
    func take(_ key: String, under anchors: TrustAnchors?) -> CachedSession? {
        state.withLock { state in
            SessionCache.settle(&state, anchors)
            guard let index = state.shelves.index(forKey: key) else { return nil }
            state.clock &+= 1
            state.shelves.values[index].lastUse = state.clock
            while let session = state.shelves.values[index].sessions.last {
                guard session.isUsable else {
                    state.shelves.values[index].sessions.removeLast()
                    continue
                }
                if session.isForOneUse { state.shelves.values[index].sessions.removeLast() }
                return session
            }
            state.shelves.remove(at: index)
            return nil
        }
    }

    func put(_ session: CachedSession, _ key: String, under anchors: TrustAnchors?) {
        state.withLock { state in
            SessionCache.settle(&state, anchors)
            state.clock &+= 1
            var shelf = state.shelves.removeValue(forKey: key) ?? Shelf()
            shelf.lastUse = state.clock
            if session.isForOneUse {
                shelf.sessions.removeAll { !$0.isForOneUse }
                if shelf.sessions.count == ticketsPerHost { shelf.sessions.removeFirst() }
                shelf.sessions.append(session)
            } else {
                shelf.sessions = [session]
            }
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

    /// The handshake with it failed.
    func remove(_ session: CachedSession, _ key: String) {
        state.withLock { state in
            guard let index = state.shelves.index(forKey: key) else { return }
            state.shelves.values[index].sessions.removeAll { $0 === session }
        }
    }
}
