public import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlSemantics

/// Responses by request, in memory and on disk. A session uses it by the rules of HTTP caching (RFC 9111) for a private
/// cache; a program that stores responses itself uses it as a plain store.
///
/// - A response is found by the request's method and whole URL, query included, fragment not.
/// - Sessions of many users may share a cache: an answer serves only requests that send the same Authorization, Cookie
///   and other secret fields as the request that brought it, unless its server says `public`. One answer is kept for
///   each URL.
/// - Sessions store responses of up to a twentieth of the capacity (that of the memory or the disk, whichever is
///   greater), as Darwin does, and of 64 MiB at most. A program may store anything that fits.
/// - What was used least recently is evicted first. A capacity of 0 switches memory or disk off.
/// - The disk part is a directory with one file for each entry (mode 0600, checksummed), which processes may share. A
///   damaged file counts as missing.
///
/// Any thread. Calls may block for the disk; sessions make theirs off their loops. Sessions call a subclass that
/// overrides `cachedResponse(for:)`, `storeCachedResponse(_:for:)` or `removeCachedResponse(for:)` for each load, off
/// their loops.
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

    /// The cache that default sessions use: 4 MiB of memory, and 20 MiB on disk in
    /// `$XDG_CACHE_HOME/<program>/URLCache`, mostly `~/.cache/…`. Sessions made before another cache is set here keep
    /// theirs.
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
        let directory = path.map { URL(fileURLWithPath: $0).path } ?? StoreFile.cacheDirectory + "/URLCache"
        disk = DiskCache(directory: directory, capacity: diskCapacity)
    }

    /// Makes a cache, as on Darwin.
    ///
    /// - Parameters:
    ///   - memoryCapacity: in bytes; 0 keeps nothing in memory.
    ///   - diskCapacity: in bytes; 0 keeps nothing on disk.
    ///   - directory: nil for that of ``shared``.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directory?.path)
    }

    /// Makes a cache for ephemeral sessions, which never writes to disk.
    init(memoryCapacity: Int) {
        memory = Mutex(MemoryCache(capacity: memoryCapacity))
        disk = nil
    }

    // MARK: Responses

    /// Returns what is stored for the request's method and URL, fresh or not, whatever its cache policy and most of its
    /// fields. A request that names a user, by Authorization, Cookie or another secret field, does not find another
    /// user's response.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        let found: CachedURLResponse? =
            switch look(for: request, isExact: true) {
            case .nothing: nil
            case .answer(let response): response
            case .unread(let key): load(key)
            }
        return found?.unlessForeign(to: request.values.fields)
    }

    /// Stores the response in place of an older one for the request, which is removed even if the new one does not fit.
    /// With `notAllowed` nothing is stored or removed; with `allowedInMemoryOnly` nothing is stored on disk.
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
        disk?.removeAll()
        memory.withLock { $0.removeAll() }
    }

    /// Removes the responses that were stored at that time or later.
    open func removeCachedResponses(since date: Date) {
        disk?.removeAll(storedSince: date)
        memory.withLock { $0.removeAll(storedSince: date) }
    }

    // MARK: Tasks

    /// Looks up the task's current request. The handler is called once, on another thread. Sessions call this method of
    /// a subclass.
    open func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let request = dataTask.currentRequest
        DispatchQueue.global().async { completionHandler(request.flatMap { self.cachedResponse(for: $0) }) }
    }

    /// Stores the response for the task's current request. Sessions call this method of a subclass.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { storeCachedResponse(cachedResponse, for: request) }
    }

    /// Removes what is stored for the task's current request.
    open func removeCachedResponse(for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { removeCachedResponse(for: request) }
    }

    // MARK: Sizes

    /// The most memory that responses take, in octets. Making it smaller evicts.
    open var memoryCapacity: Int {
        get { memory.withLock { $0.capacity } }
        set { memory.withLock { $0.capacity = newValue } }
    }

    /// The most disk space that responses take, in octets. Making it smaller evicts.
    open var diskCapacity: Int {
        get { disk?.capacity ?? 0 }
        set { disk?.capacity = newValue }
    }

    /// The memory that responses take, in octets, fields and bookkeeping included.
    open var currentMemoryUsage: Int { memory.withLock { $0.usage } }

    /// The disk space that responses take, in octets: the sizes of the files.
    open var currentDiskUsage: Int { disk?.usage ?? 0 }
}
