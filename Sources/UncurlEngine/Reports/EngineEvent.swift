public import UncurlSemantics
public import UncurlTLS

/// An event that happened at the time `EventLoop.now`. An engine can be used without events: the facts of each exchange
/// are in its ``ExchangeReport``.
public enum EngineEvent: Sendable {
    /// There was no idle connection: the exchange is in the host's queue.
    case waiting(ExchangeID, Origin)
    /// An attempt to open a connection began. It belongs to the host, not to an exchange: the first exchange in the
    /// queue gets the connection.
    case dialling(Origin)
    /// An attempt to open a connection failed.
    case dialFailed(Origin, EngineError)
    /// A handshake cannot go on without the trust store, which is being read.
    case awaitingRoots(Origin)
    /// The configuration's ``TrustEvaluator`` is deciding on a certificate.
    case askingForTrust(Origin)
    /// TLS with the origin was agreed on. `TLSInfo.isResumed` tells whether a ticket was used.
    case secured(Origin, TLSInfo)
    /// A connection is open.
    case opened(Int, Origin, ConnectionRecord)
    /// The exchange has the connection of that number. `reused`: the connection had served others before.
    case leased(ExchangeID, connection: Int, reused: Bool)
    /// The request is sent again on a new connection (``ExchangeReport/retried``); the next event tells why the old one
    /// ended.
    case retrying(ExchangeID)
    /// The connection is idle, until the next exchange or its limit.
    case parked(connection: Int)
    /// The connection of that number was closed, for that reason.
    case closed(connection: Int, Closing)
    /// The exchange has ended: its last event. The error is nil if it was completed.
    case ended(ExchangeID, EngineError?)

    /// The reason why a connection was closed.
    public enum Closing: Hashable, Sendable {
        /// It was parked for as long as it may be, or reached its maximum age.
        case expired
        /// The peer closed it, or sent bytes, while it was parked.
        case peer
        /// Another host needed room, since the engine has all the connections that it may have.
        case room
        /// The exchange is complete, and no other may follow.
        case used
        /// An exchange failed on it.
        case failed(EngineError)
        /// The engine was shut down.
        case shutDown
    }
}
