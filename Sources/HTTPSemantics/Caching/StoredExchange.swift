internal import HTTP1

/// A stored response as the rules of caching see it.
struct StoredExchange: Sendable {
    var status: Int
    var fields: HTTPFields
    var record: CacheRecord
}
