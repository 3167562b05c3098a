internal import Foundation
internal import Synchronization
package import UncurlClient
internal import UncurlHTTP1
package import UncurlSemantics

/// The methods that a session's loader uses, which must not block its loop.
extension URLCache {
    /// A subclass may find and store as it likes, so it is called for each load, by the methods it may have overridden.
    var isSubclass: Bool { type(of: self) != URLCache.self }

    /// The queue on which the methods of subclasses are called, one after the other and not on a session's loop.
    private static let telling = DispatchQueue(label: "URLLoading.URLCache", qos: .utility)

    /// Looks the request up. Never blocks. While the cache is empty it costs no more than a look at the directory.
    func find(_ request: URLRequest) -> AnswerFinding<CachedURLResponse> {
        isSubclass ? CacheKey(request).map { .unread($0) } ?? .nothing : look(for: request, isExact: false)
    }

    /// Looks the request up in this class's own memory and disk.
    func look(for request: URLRequest, isExact: Bool) -> AnswerFinding<CachedURLResponse> {
        if memory.withLock({ $0.isEmpty }) { return disk?.holds(CacheKey(request), isExact: isExact) ?? .nothing }
        guard let key = CacheKey(request) else { return .nothing }
        return look(for: key, isExact: isExact)
    }

    private func look(for key: CacheKey, isExact: Bool) -> AnswerFinding<CachedURLResponse> {
        if let found = memory.withLock({ $0.value(for: key) }) { return .answer(found) }
        return disk?.holds(key, isExact: isExact) ?? .nothing
    }

    /// Reads from disk, which blocks. A response that is found is also kept in memory.
    ///
    /// - Parameter request: the request to ask a subclass for.
    func load(_ key: CacheKey, _ request: URLRequest) -> CachedURLResponse? {
        isSubclass ? cachedResponse(for: request) : load(key)
    }

    /// Asks a subclass for a data task, by the method that it may override.
    func load(for dataTask: URLSessionDataTask, _ done: @escaping @Sendable (CachedURLResponse?) -> Void) {
        Self.telling.async { self.getCachedResponse(for: dataTask, completionHandler: done) }
    }

    func load(_ key: CacheKey) -> CachedURLResponse? {
        let changes = memory.withLock { $0.changes }
        guard let found = disk?.read(key) else { return nil }
        return memory.withLock { memory in
            memory.keep(found, for: key, asOf: changes, now: Date())
            // A newer one may have been stored meanwhile.
            return memory.value(for: key) ?? found
        }
    }

    /// Stores what came from a server, without waiting for the disk.
    ///
    /// - Parameter task: the task that brought the response, for subclasses.
    func keep(_ response: CachedURLResponse, for key: CacheKey, by task: URLSessionDataTask? = nil) {
        guard !isSubclass else {
            return Self.telling.async {
                if let task {
                    self.storeCachedResponse(response, for: task)
                } else if let request = key.request {
                    self.storeCachedResponse(response, for: request)
                }
            }
        }
        let now = Date()
        guard keepInMemory(response, key, now) else { return }
        if let disk, disk.capacity > 0 { disk.storeLater(response, for: key, now: now) }
    }

    /// Removes a stored response that is no longer valid.
    package func discard(_ key: CacheKey) {
        guard isSubclass else { return remove(key) }
        guard let request = key.request else { return }
        Self.telling.async { self.removeCachedResponse(for: request) }
    }

    /// Removes from disk first, so that a response that ``load(_:)`` reads before that does not stay in memory.
    func remove(_ key: CacheKey) {
        disk?.remove(key)
        memory.withLock { _ = $0.remove(key) }
    }

    /// The largest content that a session stores, in octets: a twentieth of the capacity, as on Darwin, and at most 64
    /// MiB, since a larger file would take seconds to read.
    package var contentLimit: Int {
        min(max(memoryCapacity, diskCapacity) / 20, 64 << 20)
    }

    /// - Returns: whether the response may be written to disk.
    func keepInMemory(_ response: CachedURLResponse, _ key: CacheKey, _ now: Date) -> Bool {
        switch response.storagePolicy {
        case .allowed:
            memory.withLock { $0.store(response, for: key, now: now) }
            return true
        case .allowedInMemoryOnly:
            // An older one on disk would come back once this is evicted.
            disk?.remove(key)
            memory.withLock { $0.store(response, for: key, now: now) }
            return false
        case .notAllowed:
            return false
        }
    }
}

extension URLCache: AnswerStore {
    package func find(_ key: CacheKey) -> AnswerFinding<StoredAnswer> {
        switch isSubclass ? .unread(key) : look(for: key, isExact: false) {
        case .nothing: .nothing
        case .answer(let response): response.answer.map { .answer($0) } ?? .nothing
        case .unread: .unread(key)
        }
    }

    package func read(_ key: CacheKey) -> StoredAnswer? { key.request.flatMap { load(key, $0)?.answer } }

    package func keep(_ updated: StoredAnswer, for key: CacheKey) {
        guard let response = CachedURLResponse(updated), response.storagePolicy != .notAllowed else {
            return discard(key)
        }
        keep(response, for: key)
    }

    package func keep(
        _ response: LocatedHead,
        _ content: [UInt8],
        _ storage: CacheStorage,
        _ record: CacheRecord,
        for key: CacheKey
    ) {
        guard let url = URL(string: response.url) else { return }
        keep(CachedURLResponse(HTTPURLResponse(response, url), data: Data(content), storage, record), for: key)
    }
}

extension CachedURLResponse {
    /// Returns the response as a program stores it itself: the request counts as the one that brought it, at `time`. If
    /// the request does not identify a user, the response is for every user, since the program decides who gets what it
    /// stores.
    func stored(for request: URLRequest, at time: Date) -> CachedURLResponse {
        let asked = request.values.fields ?? HTTPFields()
        var record = record(of: asked, at: time, .usual)
        record.isForAnyone = record.isForAnyone || !VaryRule.usual.identifies(asked)
        return with(record)
    }

    /// Returns the answer of a `URLProtocol` class as stored, to a request with these fields.
    func answered(_ asked: HTTPFields, at time: Date, _ vary: VaryRule) -> CachedURLResponse {
        with(record(of: asked, at: time, vary))
    }

    private func record(of asked: HTTPFields, at time: Date, _ vary: VaryRule) -> CacheRecord {
        let seconds = Int64(exactly: time.timeIntervalSince1970.rounded(.down)) ?? 0
        let fields = (response as? HTTPURLResponse)?.fields.list ?? HTTPFields()
        return vary.record(of: asked, varying: fields, requested: seconds, received: seconds)
    }

    /// Whether the user with these request fields may have this answer: the user that it was sent to, or any user if it
    /// is for all.
    func isFor(_ asked: HTTPFields, _ vary: VaryRule) -> Bool { record.map { vary.isSameAsker($0, asked) } ?? true }

    /// This response; nil if the request names another user than the one that it was sent to.
    func unlessForeign(to asked: HTTPFields?) -> CachedURLResponse? {
        guard let record, let asked, VaryRule.usual.isForeign(record, to: asked) else { return self }
        return nil
    }
}

/// An answer on its way into the cache.
struct CacheEntry {
    let storage: CacheStorage
    /// When the head came, in seconds since 1970.
    let received: Int64
    /// The policy that a `URLProtocol` class has given for its answer; nil for answers from the network.
    let ofClass: URLCache.StoragePolicy?
    /// The most content that is stored, in bytes.
    let limit: Int
    /// A copy of the content, for answers that are not kept in memory anyway. Nil once it has become too large.
    private(set) var copy: Data? = Data()

    init(_ storage: CacheStorage, received: Int64, limit: Int) {
        self.storage = storage
        self.received = received
        self.limit = limit
        ofClass = nil
    }

    /// Nil without a cache, or if the class does not allow to store its answer.
    init?(ofClass policy: URLCache.StoragePolicy, _ cache: URLCache?) {
        guard let cache, policy != .notAllowed else { return nil }
        (storage, received, ofClass) = (.everywhere, unixTime(), policy)
        limit = cache.contentLimit
    }

    mutating func append(_ data: Data) {
        guard let count = copy?.count else { return }
        if count + data.count <= limit { copy?.append(data) } else { copy = nil }
    }
}

extension CacheKey {
    init(method: String, url: URL) { self.init(method: method, url: url.absoluteString) }

    /// Nil for a request without a URL.
    init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.init(method: request.values.httpMethod, url: url)
    }

    /// The request that has this key, for callers that know only requests.
    var request: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method
        return request
    }
}

extension CacheMode {
    init(_ policy: NSURLRequest.CachePolicy) {
        self =
            switch policy {
            case .useProtocolCachePolicy: .standard
            case .reloadIgnoringLocalCacheData: .bypass
            case .reloadIgnoringLocalAndRemoteCacheData: .reload
            case .returnCacheDataElseLoad: .preferStored
            case .returnCacheDataDontLoad: .onlyStored
            case .reloadRevalidatingCacheData: .revalidate
            }
    }
}
