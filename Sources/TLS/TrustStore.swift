internal import COpenSSL
internal import Synchronization

/// The roots of one ``TrustRoots``, loaded once.
public final class TrustStore: Sendable {
    public let roots: TrustRoots
    private let state = Mutex(State())

    private struct State {
        var store: UInt = 0
        var isLoaded = false
        var failure: TLSError?
    }

    private static let stores = Mutex<[TrustRoots: TrustStore]>([:])

    static func shared(_ roots: TrustRoots) -> TrustStore {
        stores.withLock { stores in
            if let store = stores[roots] { return store }
            let store = TrustStore(roots)
            stores[roots] = store
            return store
        }
    }

    private init(_ roots: TrustRoots) { self.roots = roots }

    public var isLoaded: Bool { state.withLock { $0.isLoaded } }
    public var failure: TLSError? { state.withLock { $0.failure } }

    /// Blocks.
    public func load() {
        state.withLock { state in
            guard !state.isLoaded else { return }
            state.isLoaded = true
            guard let store = unsafe X509_STORE_new() else {
                state.failure = .outOfMemory
                return
            }
            let loaded: CInt
            switch roots {
            case .system: loaded = unsafe X509_STORE_set_default_paths(store)
            case .file(let path): loaded = unsafe X509_STORE_load_file(store, path)
            case .pem(let bytes):
                let bio = unsafe BIO_new_mem_buf(bytes, CInt(clamping: bytes.count))
                while let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
                    unsafe X509_STORE_add_cert(store, certificate)
                    unsafe X509_free(certificate)
                }
                unsafe BIO_free(bio)
                loaded = 1
            }
            if loaded != 1 { state.failure = .roots("\(roots)") }
            state.store = UInt(bitPattern: store)
        }
    }

    var handle: OpaquePointer? { unsafe OpaquePointer(bitPattern: state.withLock { $0.store }) }
}
