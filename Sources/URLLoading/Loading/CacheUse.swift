internal import Foundation
internal import HTTP1

/// A stored answer that the server is asked about.
struct CacheUse {
    let cached: CachedURLResponse
    /// The request carries conditions of the cache's: a 304 is for it.
    let isConditional: Bool
    let mayServeStale: Bool

    init(_ cached: CachedURLResponse, isConditional: Bool, mayServeStale: Bool) {
        self.cached = cached
        self.isConditional = isConditional
        self.mayServeStale = mayServeStale
    }
}

/// An answer on its way into the cache.
struct CacheEntry {
    let record: CacheRecord
    let storage: CacheStorage
    private let limit: Int
    /// Of answers that are not kept in memory anyway. Nil once it has become too large.
    private var copy: Data? = Data()

    init(_ record: CacheRecord, _ storage: CacheStorage, limit: Int) {
        self.record = record
        self.storage = storage
        self.limit = limit
    }

    mutating func append(_ data: Data) {
        guard let count = copy?.count else { return }
        if count + data.count <= limit { copy?.append(data) } else { copy = nil }
    }

    /// Nil for one that is too large.
    func content(of sink: Sink) -> Data? {
        switch sink {
        case .memory(let data): data.count <= limit ? data : nil
        case .delegate: copy
        case .none, .file, .bytes: nil
        }
    }
}

extension CachedURLResponse {
    /// The same content under fields that a 304 or a HEAD has brought up to date.
    func updated(_ fresh: StoredExchange) -> CachedURLResponse? {
        guard let url = response.url else { return nil }
        return CachedURLResponse(
            response: HTTPURLResponse(url: url, status: fresh.status, fields: fresh.fields),
            data: data,
            userInfo: userInfo,
            storagePolicy: storagePolicy,
            record: fresh.record
        )
    }
}

extension URLResponse {
    /// Without the fields that are of one hop only.
    var forCache: URLResponse {
        guard let http = self as? HTTPURLResponse, let url else { return self }
        return HTTPURLResponse(url: url, status: http.statusCode, fields: CacheStorage.kept(http.fields.list))
    }
}
