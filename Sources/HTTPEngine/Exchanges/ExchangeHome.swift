internal import Reactor

/// What an exchange's timer tells when it has run out. Called on the loop.
protocol ExchangeOwner: AnyObject {
    /// A limit may have passed, or what an exchange waits for may be due. Never called for a free exchange.
    func timerFired(of exchange: Exchange)
}

/// What all exchanges of one engine share.
final class ExchangeHome {
    let loop: EventLoop
    /// The configuration's limits, in the clock's unit.
    let spans: Timeouts.Spans
    /// The engine, which takes itself out of here when it goes: as long as an exchange is not free, a connection, a
    /// dial or a posted failure keeps it alive. Not weak: every reference to a weakly held engine is counted in a table
    /// apart.
    unowned(unsafe) var owner: (any ExchangeOwner)?

    init(_ loop: EventLoop, _ spans: Timeouts.Spans) {
        self.loop = loop
        self.spans = spans
    }
}
