public import UncurlHTTP1

/// What a cache must remember about a response, to judge it later. Times are seconds since 1970, UTC.
public struct CacheRecord: Hashable, Sendable {
    /// The request's fields that the response's Vary names (RFC 9111 §4.1), and those that identify the user.
    public var varying: [VaryingField]
    /// Whether every user may have it: the server said so, or the program that stored it did not name a user.
    public var isForAnyone = false
    /// When the request was sent (RFC 9111 §4.2.3).
    public var requested: Int64
    /// When the response's head came.
    public var received: Int64

    /// - Parameters:
    ///   - varying: the request's fields that the response depends on.
    ///   - isForAnyone: whether the response may serve another user.
    ///   - requested: when the request was sent, in seconds since 1970.
    ///   - received: when the response's head came, in seconds since 1970.
    public init(varying: [VaryingField], isForAnyone: Bool = false, requested: Int64, received: Int64) {
        self.varying = varying
        self.isForAnyone = isForAnyone
        self.requested = requested
        self.received = received
    }
}

/// A request field that a response depends on.
public struct VaryingField: Hashable, Sendable {
    /// The name in lower case.
    public let name: String
    /// The value, normalised for comparison; nil if the request had no such field.
    public internal(set) var value: String?
    /// Whether it identifies the user: then the value is a digest.
    public var isSecret = false

    /// - Parameters:
    ///   - name: in lower case.
    ///   - value: as ``VaryRule`` compares it; nil if the request had no such field.
    ///   - isSecret: whether the value is a digest of the request's value.
    public init(name: String, value: String?, isSecret: Bool = false) {
        self.name = name
        self.value = value
        self.isSecret = isSecret
    }
}

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
