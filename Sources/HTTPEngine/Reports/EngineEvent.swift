public import TLS

/// One thing that happened, by the time `EventLoop.now`. Nothing here is needed to use an engine: each exchange's own
/// story is in its ``ExchangeReport``.
public enum EngineEvent: Sendable {
    /// No idle connection was there: the exchange stands in the host's queue.
    case waiting(ExchangeID, Origin)
    /// An attempt to open a connection began. It belongs to the host, not to an exchange: the first in the queue gets
    /// the connection.
    case dialling(Origin)
    /// An attempt to open a connection came to nothing.
    case dialFailed(Origin, EngineError)
    /// A handshake has come as far as it can without the trust store, which is being read.
    case awaitingRoots(Origin)
    /// A certificate is being decided on by the configuration's ``TrustEvaluator``.
    case askingForTrust(Origin)
    /// TLS with the origin is agreed on. `TLSInfo.isResumed` says whether a ticket was taken.
    case secured(Origin, TLSInfo)
    /// A connection is open.
    case opened(Int, Origin, ConnectionRecord)
    /// The exchange has the connection of that number. `reused`: others had it before.
    case leased(ExchangeID, connection: Int, reused: Bool)
    /// The request is sent again on a fresh connection (``ExchangeReport/retried``); why, its last one's end says next.
    case retrying(ExchangeID)
    /// Idle, until the next exchange or its limit.
    case parked(connection: Int)
    /// The connection of that number was closed, and why.
    case closed(connection: Int, Closing)
    /// The last that is heard of the exchange; nil: completed.
    case ended(ExchangeID, EngineError?)

    /// Why a connection was closed.
    public enum Closing: Hashable, Sendable {
        /// Parked for as long as it may, or older than it may become.
        case expired
        /// The peer closed it, or spoke, while it was parked.
        case peer
        /// For another host, as the engine has all the connections it may have.
        case room
        /// The exchange is complete, and after it none may follow.
        case used
        /// With the exchange that failed on it.
        case failed(EngineError)
        /// With the engine.
        case shutDown
    }
}
