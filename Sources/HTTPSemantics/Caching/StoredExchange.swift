public import HTTP1

/// A stored response as the rules of caching see it.
public struct StoredExchange: Sendable {
    /// The response's.
    public var status: Int
    /// The response's, as they are kept.
    public var fields: HTTPFields
    /// What is remembered beside it.
    public var record: CacheRecord

    /// A stored response with what is remembered beside it.
    public init(status: Int, fields: HTTPFields, record: CacheRecord) {
        self.status = status
        self.fields = fields
        self.record = record
    }
}
