internal import Foundation
internal import UncurlHTTP1
internal import UncurlSemantics

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
        (storage, received, ofClass) = (.everywhere, UnixTime.now, policy)
        limit = cache.contentLimit
    }

    mutating func append(_ data: Data) {
        guard let count = copy?.count else { return }
        if count + data.count <= limit { copy?.append(data) } else { copy = nil }
    }
}
