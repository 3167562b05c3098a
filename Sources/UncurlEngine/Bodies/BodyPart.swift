public import UncurlHTTP1

/// A piece of a streamed request body.
public enum BodyPart: Sendable {
    /// Bytes, which are shared and not copied. An empty piece makes the engine ask again at once.
    case bytes([UInt8])
    /// Nothing yet. ``Engine/bodyReady(_:)`` makes the engine ask again.
    case later
    /// The end. Trailers are sent only with chunked framing (RFC 9112 §7.1.2); with a declared length they are dropped.
    case end(trailers: HTTPFields?)
    /// The source has failed: the exchange fails, and the connection is reset so that the server cannot take the body
    /// for whole.
    case failed
}
