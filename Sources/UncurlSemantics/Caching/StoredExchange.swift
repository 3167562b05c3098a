public import UncurlHTTP1

/// A stored response as the rules of caching see it.
public struct StoredExchange: Sendable {
    /// The response's status.
    public var status: Int
    /// The response's fields, as they are kept.
    public var fields: HTTPFields
    /// What the cache remembers about it.
    public var record: CacheRecord

    /// Makes a stored response with what the cache remembers about it.
    public init(status: Int, fields: HTTPFields, record: CacheRecord) {
        self.status = status
        self.fields = fields
        self.record = record
    }
}
