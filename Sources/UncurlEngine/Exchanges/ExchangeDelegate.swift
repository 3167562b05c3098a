public import UncurlHTTP1

/// Receives the events of an exchange. It is always called on the engine's loop, and must not block.
///
/// The order: any number of informational heads, the final head, bytes, one outcome. Sending and receiving overlap: a
/// server may answer before the request was sent completely. After the outcome nothing follows. Every call may start,
/// cancel, pause or resume exchanges, this one too.
public protocol ExchangeDelegate: AnyObject {
    /// Reports a head. A status below 200 is informational (RFC 9110 §15.2): another head follows, unless it is 101.
    /// `head` is the engine's own storage, lent for the call; a copy that is kept is safe, and costs the engine one
    /// allocation.
    func exchange(_ id: ExchangeID, didReceive head: ResponseHead)

    /// Reports content, decoded as asked, in the loop's buffer: take what is needed before returning. Never empty.
    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>)

    /// Reports that the kernel took `count` more bytes of the request's content. Content in memory may be sent within
    /// ``Engine/start(_:delegate:priority:)``, before that has returned; a retry counts anew.
    func exchange(_ id: ExchangeID, didSend count: Int)

    /// Asks for the next part of a streamed body, from `offset` on. It asks again with offset 0 only if the body was
    /// declared replayable.
    func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart

    /// Hands over a connection on which HTTP has ended: the server has switched to a protocol of
    /// ``EngineRequest/Options/upgrade`` (101) or opened a tunnel (2xx to CONNECT). The head was reported before; the
    /// exchange's outcome follows at once. The connection belongs to the delegate, which must
    /// ``UpgradedConnection/start(_:)`` and close it.
    func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection)

    /// Reports the end, exactly once (for a pipeline, once for each response). The connection, if it may be used again,
    /// is already back in the pool: an exchange started here finds it.
    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport)
}

extension ExchangeDelegate {
    public func exchange(_ id: ExchangeID, didSend count: Int) {}

    /// The default for delegates that never start an exchange with a streamed body.
    public func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart { .failed }

    /// The default for delegates that never ask for an upgrade.
    public func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection) { connection.close() }
}

/// How an exchange ended.
public enum Outcome: Sendable {
    /// The whole response arrived. Trailers are kept apart from the head's fields (RFC 9110 §6.5.1).
    case completed(trailers: HTTPFields?)
    /// It failed, before or inside its response.
    case failed(EngineError)
}

/// What an exchange waits for on the program's side.
public enum Rest: Hashable, Sendable {
    /// Nothing.
    case none
    /// The answer to a question about its response. The limit on idle time goes on, even while the response is paused.
    case question
    /// The program has suspended it.
    case suspension
}
