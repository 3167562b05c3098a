internal import CUncurlOpenSSL
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
    /// The result of the last load. Nil before it, and while it is made again after a failure.
    private let state = Mutex<Result<Loaded, TrustStoreError>?>(nil)
    /// The lock that is held while files are read: a second caller waits for the first one's result.
    private let reading = Mutex(())

    /// The roots, the states of their files, and when those were looked at.
    private typealias Loaded = (anchors: TrustAnchors, files: [String: [Int]?], looked: ContinuousClock.Instant)

    /// The interval between two looks at the files. Bundles are replaced once in months, and a look costs system calls.
    public static let refreshInterval = Duration.seconds(300)

    init(_ roots: TrustRoots, surroundings: TrustLoader.Surroundings) {
        self.roots = roots
        self.surroundings = surroundings
    }

    /// Returns the process's store of these roots, or a new one if there is none.
    public static func shared(_ roots: TrustRoots) -> TrustStore {
        registry.withLock { stores in
            if let store = stores[roots]?() { return store }
            let store = TrustStore(roots, surroundings: .process)
            stores = stores.filter { $0.value() != nil }
            stores[roots] = { [weak store] in store }
            return store
        }
    }

    /// The stores that are in use.
    private static let registry = Mutex<[TrustRoots: @Sendable () -> TrustStore?]>([:])

    /// Whether the roots are loaded. Any thread may ask.
    public var isLoaded: Bool { anchors != nil }

    /// Why the last ``load()`` failed. Nil before it and after a success.
    public var failure: TrustStoreError? {
        state.withLock { if case .failure(let error) = $0 { error } else { nil } }
    }

    /// The loaded roots. Nil until they are loaded.
    public var anchors: TrustAnchors? { loaded?.anchors }

    private var loaded: Loaded? { state.withLock { try? $0?.get() } }

    /// Reads the roots unless they are loaded. It blocks. After a failure it tries again.
    @discardableResult
    public func load() -> Result<TrustAnchors, TrustStoreError> {
        reading.withLock { _ in
            if let anchors { return .success(anchors) }
            // Handshakes wait for this attempt; otherwise they would fail with the last one's reason.
            state.withLock { $0 = nil }
            let result = read()
            state.withLock { $0 = result }
            return result.map(\.anchors)
        }
    }

    /// Returns true at most once in ``refreshInterval``. The caller that gets it must call ``refresh()`` off the loop.
    public func claimRefresh(now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            guard case .success(var loaded) = state, !loaded.files.isEmpty,
                now - loaded.looked >= Self.refreshInterval
            else { return false }
            loaded.looked = now
            state = .success(loaded)
            return true
        }
    }

    /// Checks whether a file has changed, and if so loads the roots again. It blocks. If that fails, the old roots
    /// stay: a bundle that is just being replaced must not stop a running program. Handshakes in progress keep their
    /// roots.
    ///
    /// - Returns: whether the roots are new.
    @discardableResult
    public func refresh() -> Bool {
        reading.withLock { _ in
            guard let files = loaded?.files, files.contains(where: { fileState($0.key) != $0.value }),
                case .success(let loaded) = read()
            else { return false }
            state.withLock { $0 = .success(loaded) }
            return true
        }
    }

    private func read() -> Result<Loaded, TrustStoreError> {
        do throws(TrustStoreError) {
            let loader = try TrustLoader.load(roots, surroundings)
            return .success((TrustAnchors(loader.certificates), loader.states, .now))
        } catch {
            return .failure(error)
        }
    }
}

/// The trusted authorities: those of the system, of files, of directories, of certificates in memory, or any of them
/// together. Files are read when a ``TrustStore`` loads, not before.
public struct TrustRoots: Hashable, Sendable {
    /// Where roots come from.
    public enum Source: Hashable, Sendable {
        /// The distribution's roots, and those that SSL_CERT_FILE and SSL_CERT_DIR name, found as ``TrustStore``
        /// describes.
        case system
        /// Certificates in PEM, any number, or one in DER.
        case file(String)
        /// The directory's files that `openssl rehash` has named or, if there are none, those ending in .pem, .crt or
        /// .cer.
        case directory(String)
        /// Certificates in PEM.
        case pem([UInt8])
    }

    /// The sources, whose roots are all trusted. If it is empty, no server is trusted.
    public var sources: [Source]

    /// Makes the roots of all these sources together.
    public init(_ sources: [Source]) { self.sources = sources }

    /// The roots of the distribution.
    public static let system = TrustRoots([.system])
    /// Returns the certificates of one file.
    public static func file(_ path: String) -> TrustRoots { TrustRoots([.file(path)]) }
    /// Returns the certificates of one folder.
    public static func directory(_ path: String) -> TrustRoots { TrustRoots([.directory(path)]) }
    /// Returns the certificates of a PEM text.
    public static func pem(_ text: [UInt8]) -> TrustRoots { TrustRoots([.pem(text)]) }
    /// Returns the certificates of a PEM text.
    public static func pem(_ text: String) -> TrustRoots { TrustRoots([.pem(Array(text.utf8))]) }

    /// Returns the roots of both together.
    public static func + (left: TrustRoots, right: TrustRoots) -> TrustRoots {
        TrustRoots(left.sources + right.sources)
    }
}

/// The loaded roots: one `X509_STORE`. It does not change after its initialisation, so threads may share it.
@safe public final class TrustAnchors: Sendable {
    private let address: UInt
    /// The number of roots, without repetitions.
    public let count: Int

    /// OpenSSL's store, borrowed from this object.
    var store: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// Makes a store of roots. Without any root, no server is trusted.
    public init(_ certificates: [Certificate]) {
        let store = unsafe X509_STORE_new()
        address = UInt(bitPattern: store)
        var seen = Set<[UInt8]>()
        for one in certificates {
            guard let pointer = unsafe one.pointer, unsafe seen.insert(VerifiedChain.digest(of: pointer)).inserted
            else {
                continue
            }
            _ = unsafe X509_STORE_add_cert(store, pointer)
        }
        count = seen.count
        ERR_clear_error()
    }

    deinit { unsafe X509_STORE_free(store) }
}
