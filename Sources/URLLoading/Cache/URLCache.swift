public import Foundation
internal import HTTPSemantics
internal import Synchronization

/// Responses by request, in memory and on disk, by the rules of HTTP caching (RFC 9111) for a private cache when a
/// session uses it, and for a program that stores by hand, as a plain store.
///
/// - A response is found by the request's method and whole URL, query included, fragment not.
/// - Sessions of many users may share a cache: an answer is for requests that send the same Authorization, Cookie and
///   other secret fields as the request that brought it, unless its server says `public`. One answer a URL is kept.
/// - Sessions store responses of up to a twentieth of the capacity (that of the memory or the disk, whichever is
///   greater), as Darwin does; by hand anything goes that fits.
/// - What was used last goes last. A capacity of 0 switches memory or disk off.
/// - The disk part is a directory with one file an entry (mode 0600, checksummed), which processes may share. What is
///   damaged is as good as not there.
///
/// Any thread. Calls may block for the disk; sessions make theirs where that does no harm. A subclass that overrides
/// ``cachedResponse(for:)``, `storeCachedResponse(_:for:)` or `removeCachedResponse(for:)` is called by sessions for
/// each load, off their loops.
open class URLCache: NSObject, @unchecked Sendable {
    /// What a cache may do with a response.
    @frozen public enum StoragePolicy: UInt, Sendable {
        /// It may be kept in memory and on disk.
        case allowed
        /// It may be kept in memory, and is not written to disk.
        case allowedInMemoryOnly
        /// It is not kept.
        case notAllowed
    }

    let memory: Mutex<MemoryCache>
    let disk: DiskCache?

    private static let process = Mutex<URLCache?>(nil)

    /// The one that default sessions use: 4 MiB of memory, and 20 MiB on disk in `$XDG_CACHE_HOME/<program>/URLCache`,
    /// mostly `~/.cache/…`. Sessions made before another is set keep theirs.
    open class var shared: URLCache {
        get {
            process.withLock { shared in
                if let shared { return shared }
                let made = URLCache(memoryCapacity: 4 << 20, diskCapacity: 20 << 20, diskPath: nil)
                shared = made
                return made
            }
        }
        set { process.withLock { $0 = newValue } }
    }

    /// - Parameters:
    ///   - memoryCapacity: in octets.
    ///   - diskCapacity: in octets.
    ///   - path: a directory, made when it is first written to; nil for that of ``shared``.
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        memory = Mutex(MemoryCache(capacity: memoryCapacity))
        let directory = path.map { URL(fileURLWithPath: $0).path } ?? StoreDirectories.cache + "/URLCache"
        disk = DiskCache(directory: directory, capacity: diskCapacity)
    }

    /// As on Darwin.
    ///
    /// - Parameters:
    ///   - memoryCapacity: in bytes; 0 keeps nothing in memory.
    ///   - diskCapacity: in bytes; 0 keeps nothing on disk.
    ///   - directory: nil for that of ``shared``.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directory?.path)
    }

    /// For ephemeral sessions: never writes.
    init(memoryCapacity: Int) {
        memory = Mutex(MemoryCache(capacity: memoryCapacity))
        disk = nil
    }

    // MARK: Responses

    /// What is stored for the request's method and URL, fresh or not, whatever its cache policy and most of its fields.
    /// One that names a user, by Authorization, Cookie or another secret field, does not find what is another user's.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        let found: CachedURLResponse? =
            switch look(for: request, isExact: true) {
            case .nothing: nil
            case .response(let response): response
            case .onDisk(let key): load(key)
            }
        return found?.unlessForeign(to: request.values.fields)
    }

    /// Takes the place of what is stored for the request, which goes in any case. `notAllowed` stores nothing,
    /// `allowedInMemoryOnly` nothing on disk.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let key = CacheKey(request) else { return }
        let now = Date()
        let response = cachedResponse.record == nil ? cachedResponse.stored(for: request, at: now) : cachedResponse
        guard keepInMemory(response, key, now) else { return }
        if let disk, disk.capacity > 0 { disk.store(response, for: key, now: now) }
    }

    /// Removes what is stored for the request's method and URL.
    open func removeCachedResponse(for request: URLRequest) {
        guard let key = CacheKey(request) else { return }
        remove(key)
    }

    /// Empties the cache, on disk too.
    open func removeAllCachedResponses() {
        memory.withLock { $0.removeAll() }
        disk?.removeAll()
    }

    /// Those that were stored at that time or later.
    open func removeCachedResponses(since date: Date) {
        memory.withLock { $0.removeAll(storedSince: date) }
        disk?.removeAll(storedSince: date)
    }

    // MARK: Tasks

    /// As for the task's current request. The handler is called once, on a thread of its own.
    open func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let request = dataTask.currentRequest
        DispatchQueue.global().async { completionHandler(request.flatMap { self.cachedResponse(for: $0) }) }
    }

    /// As for the task's current request. What sessions call in a subclass.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { storeCachedResponse(cachedResponse, for: request) }
    }

    /// As for the task's current request.
    open func removeCachedResponse(for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { removeCachedResponse(for: request) }
    }

    // MARK: Sizes

    /// In octets. Making it smaller evicts.
    open var memoryCapacity: Int {
        get { memory.withLock { $0.capacity } }
        set { memory.withLock { $0.capacity = newValue } }
    }

    /// In octets. Making it smaller evicts.
    open var diskCapacity: Int {
        get { disk?.capacity ?? 0 }
        set { disk?.capacity = newValue }
    }

    /// In octets, fields and bookkeeping included.
    open var currentMemoryUsage: Int { memory.withLock { $0.usage } }

    /// In octets: the sizes of the files.
    open var currentDiskUsage: Int { disk?.usage ?? 0 }
}
