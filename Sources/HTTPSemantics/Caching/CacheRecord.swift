/// What a cache must remember beside a response, to judge it later. Times are seconds since 1970, UTC.
struct CacheRecord: Hashable, Sendable {
    /// The request's fields that the response's Vary names (RFC 9111 §4.1), and those that tell who asked.
    var varying: [VaryingField]
    /// Whoever asks may have it: the server said so, or the program that stored it did not say for whom it is.
    var isForAnyone = false
    /// When the request went out and when the response's head came (RFC 9111 §4.2.3).
    var requested: Int64
    var received: Int64
}

/// A request field that a response depends on.
struct VaryingField: Hashable, Sendable {
    /// Lower case.
    let name: String
    /// Normalised for comparison; nil if the request had none.
    let value: String?
    /// It tells who asks: the value is a digest.
    var isSecret = false
}
