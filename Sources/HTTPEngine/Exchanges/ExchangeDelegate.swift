public import HTTP1

/// Receives what becomes of an exchange. Always called on the engine's loop; it must not block.
///
/// The order: any number of informational heads, the final head, bytes, one outcome. Sending and
/// receiving overlap: a server may answer before the request has left. After the outcome nothing follows.
/// Every call may start, cancel, pause or resume exchanges, this one too.
public protocol ExchangeDelegate: AnyObject {
    /// A head. A status below 200 is informational (RFC 9110 §15.2): another follows, unless it is 101. `head` is the
    /// engine's own storage, lent for the call; a copy kept beyond it is safe, and costs the engine one allocation.
    func exchange(_ id: ExchangeID, didReceive head: ResponseHead)

    /// Content, decoded as asked, in the loop's buffer: take what is needed before returning. Never empty.
    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>)

    /// The kernel took so many more bytes of the request's content. Content in memory may leave within
    /// ``Engine/start(_:delegate:priority:)``, before that has returned; a retry counts anew.
    func exchange(_ id: ExchangeID, didSend count: Int)

    /// The next part of a streamed body, from `offset` on. Asked again with offset 0 only if the body was
    /// declared replayable.
    func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart

    /// HTTP is over on this connection: the server has switched to a protocol of ``EngineRequest/Options/upgrade``
    /// (101) or opened a tunnel (2xx to CONNECT). The head came before; the exchange's outcome follows at once. The
    /// connection is the delegate's now, to ``UpgradedConnection/start(_:)`` and to close.
    func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection)

    /// The end, exactly once (a pipeline: once a response). The connection, if it may be used again, is already back
    /// in the pool: an exchange started here finds it.
    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport)
}

extension ExchangeDelegate {
    public func exchange(_ id: ExchangeID, didSend count: Int) {}

    /// For delegates that never start an exchange with a streamed body.
    public func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart { .failed }

    /// For delegates that never ask for one.
    public func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection) { connection.close() }
}

/// How an exchange ended.
public enum Outcome: Sendable {
    /// The whole response arrived. Trailers are kept apart from the head's fields (RFC 9110 §6.5.1).
    case completed(trailers: HTTPFields?)
    /// It failed, before or inside its response.
    case failed(EngineError)
}
