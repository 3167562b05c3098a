/// What a cache must remember beside a response, to judge it later. Times are seconds since 1970, UTC.
public struct CacheRecord: Hashable, Sendable {
    /// The request's fields that the response's Vary names (RFC 9111 §4.1), and those that identify the user.
    public var varying: [VaryingField]
    /// Every user may have it: the server said so, or the program that stored it did not say for whom it is.
    public var isForAnyone = false
    /// When the request went out and when the response's head came (RFC 9111 §4.2.3).
    public var requested: Int64
    /// When the response's head came.
    public var received: Int64

    /// - Parameters:
    ///   - varying: what the response depends on.
    ///   - isForAnyone: whether the response may serve another user.
    ///   - requested: seconds since 1970, as `received`.
    ///   - received: when its head had come.
    public init(varying: [VaryingField], isForAnyone: Bool = false, requested: Int64, received: Int64) {
        self.varying = varying
        self.isForAnyone = isForAnyone
        self.requested = requested
        self.received = received
    }
}

/// A request field that a response depends on.
public struct VaryingField: Hashable, Sendable {
    /// Lower case.
    public let name: String
    /// Normalised for comparison; nil if the request had none.
    public internal(set) var value: String?
    /// It identifies the user: the value is a digest.
    public var isSecret = false

    /// - Parameters:
    ///   - name: lower case.
    ///   - value: as ``VaryRule`` compares it; nil if the request had no such field.
    ///   - isSecret: whether the value is a digest of what the request bore.
    public init(name: String, value: String?, isSecret: Bool = false) {
        self.name = name
        self.value = value
        self.isSecret = isSecret
    }
}
