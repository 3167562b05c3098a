public import URLLoading

/// An answer whose content could not be made into a value. It carries the answer.
public struct SerializationFailure: Error, Sendable {
    public let response: URLResponse?
    public let data: Data
    public let underlying: (any Error)?
}
