internal import Synchronization

/// The roots of one ``TrustRoots``, loaded once a process and kept while they are used.
///
/// A new store reads nothing. ``load()`` does, and blocks for some thirty milliseconds with a distribution's bundle:
/// call it off the loop, while the program waits for the network. Any thread may call anything here.
///
/// The system's roots are looked for in the files of the usual distributions, then in their directories. The search
/// ends at the first place that holds a certificate. SSL_CERT_FILE replaces these files, and the search goes on to the
/// directories. SSL_CERT_DIR replaces files and directories, but not SSL_CERT_FILE; all that it names are read.
public final class TrustStore: Sendable {
    /// The roots that it loads.
    public let roots: TrustRoots
    private let surroundings: TrustLoader.Surroundings
    private let state = Mutex(State.empty)
    /// The lock that is held while files are read: a second caller waits for the first one's result.
    private let reading = Mutex(())

    private enum State {
        case empty
        case failed(TrustStoreError)
        case loaded(Loaded)
    }

    private struct Loaded {
        var anchors: TrustAnchors
        var files: [String: FileState?]
        var looked: ContinuousClock.Instant
    }

    /// The interval between two looks at the files. Bundles are replaced once in months, and a look costs system calls.
    public static let refreshInterval = Duration.seconds(300)

    init(_ roots: TrustRoots, surroundings: TrustLoader.Surroundings) {
        self.roots = roots
        self.surroundings = surroundings
    }

    /// Returns the process's store of these roots, or a new one if there is none.
    public static func shared(_ roots: TrustRoots) -> TrustStore {
        registry.withLock { stores in
            if let store = stores[roots]?.store { return store }
            let store = TrustStore(roots, surroundings: .process)
            stores = stores.filter { $0.value.store != nil }
            stores[roots] = Entry(store: store)
            return store
        }
    }

    private struct Entry {
        weak var store: TrustStore?
    }

    private static let registry = Mutex<[TrustRoots: Entry]>([:])

    /// Whether the roots are loaded. Any thread may ask.
    public var isLoaded: Bool { anchors != nil }

    /// Why the last ``load()`` failed. Nil before it and after a success.
    public var failure: TrustStoreError? {
        state.withLock { state in
            switch state {
            case .failed(let error): error
            case .empty, .loaded: nil
            }
        }
    }

    /// The loaded roots. Nil until they are loaded.
    public var anchors: TrustAnchors? {
        state.withLock { state in
            switch state {
            case .loaded(let loaded): loaded.anchors
            case .empty, .failed: nil
            }
        }
    }

    /// Reads the roots unless they are loaded. It blocks. After a failure it tries again.
    @discardableResult
    public func load() -> Result<TrustAnchors, TrustStoreError> {
        reading.withLock { _ in
            if let anchors { return .success(anchors) }
            // Handshakes wait for this attempt; otherwise they would fail with the last one's reason.
            state.withLock { $0 = .empty }
            let result = read()
            state.withLock { state in
                switch result {
                case .success(let loaded): state = .loaded(loaded)
                case .failure(let error): state = .failed(error)
                }
            }
            return result.map(\.anchors)
        }
    }

    /// Returns true at most once in ``refreshInterval``. The caller that gets it must call ``refresh()`` off the loop.
    public func claimRefresh(now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            guard case .loaded(var loaded) = state, !loaded.files.isEmpty,
                now - loaded.looked >= Self.refreshInterval
            else { return false }
            loaded.looked = now
            state = .loaded(loaded)
            return true
        }
    }

    /// Checks whether a file has changed, and if so loads the roots again. It blocks. If that fails, the old roots
    /// stay: a bundle that is just being replaced must not stop a running program. Handshakes in progress keep their
    /// roots.
    ///
    /// - Returns: whether the roots are new.
    /// - Returns: whether the roots are new.
    @discardableResult
    public func refresh() -> Bool {
        reading.withLock { _ in
            let files = state.withLock { state -> [String: FileState?] in
                switch state {
                case .loaded(let loaded): loaded.files
                case .empty, .failed: [:]
                }
            }
            guard files.contains(where: { FileBytes.state($0.key) != $0.value }),
                case .success(let loaded) = read()
            else { return false }
            state.withLock { $0 = .loaded(loaded) }
            return true
        }
    }

    private func read() -> Result<Loaded, TrustStoreError> {
        do throws(TrustStoreError) {
            let loader = try TrustLoader.load(roots, surroundings)
            let anchors = TrustAnchors(loader.certificates)
            return .success(Loaded(anchors: anchors, files: loader.states, looked: .now))
        } catch {
            return .failure(error)
        }
    }
}
