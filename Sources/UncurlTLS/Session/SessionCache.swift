internal import CUncurlOpenSSL
internal import Synchronization
internal import UncurlLibC

/// The sessions to resume of one ``TLSContext``: trust settings, versions and ALPN are the same for all of them. The
/// key holds what else distinguishes peers. Each session's `Provenance` holds what the program decided, where it is
/// asked.
///
/// A TLS 1.3 ticket is used once (RFC 8446 §C.4): most servers refuse it the second time, and an observer on the way
/// could link the connections. A TLS 1.2 session stays until it is refused or too old.
public final class SessionCache: Sendable {
    private let hostLimit: Int
    private let ticketsPerHost: Int

    /// The sessions of one peer, the newest last.
    private typealias Shelf = (sessions: [CachedSession], lastUse: UInt64)

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
            var shelf: Shelf = (state.shelves.removeValue(forKey: key)?.sessions ?? [], state.clock)
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

/// A session of OpenSSL's, with what was known of the peer when it was made.
///
/// OpenSSL counts the references of an `SSL_SESSION` atomically, and nothing changes one that is out of its connection.
/// So it may go from thread to thread.
@safe final class CachedSession: Sendable {
    private let address: UInt
    let provenance: Provenance

    /// Takes over one reference.
    init(taking session: OpaquePointer, made provenance: Provenance) {
        address = UInt(bitPattern: session)
        self.provenance = provenance
    }

    deinit { unsafe SSL_SESSION_free(handle) }

    var handle: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    var isForOneUse: Bool { unsafe SSL_SESSION_get_protocol_version(handle) >= TLS1_3_VERSION }

    /// Whether the session is not marked as spoilt, its lifetime has not passed, and its certificate has not expired
    /// since.
    var isUsable: Bool {
        guard unsafe SSL_SESSION_is_resumable(handle) == 1 else { return false }
        let age = unsafe time(nil) - SSL_SESSION_get_time(handle)
        // OpenSSL reads a finer clock from 3.3 on: for some milliseconds, `time` may return the second before.
        guard age >= -1, unsafe age < SSL_SESSION_get_timeout(handle) else { return false }
        // The lifetime that the server promised. With 0, a server of TLS 1.2 did not say (RFC 5077 §3.3), and a ticket
        // of TLS 1.3 must be discarded at once (RFC 8446 §4.6.1).
        let hint = unsafe SSL_SESSION_get_ticket_lifetime_hint(handle)
        guard hint == 0 ? !isForOneUse : age < Int(clamping: hint) else { return false }
        guard let certificate = unsafe SSL_SESSION_get0_peer(handle) else { return true }
        return unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
    }
}
