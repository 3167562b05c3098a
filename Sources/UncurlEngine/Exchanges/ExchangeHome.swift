internal import UncurlReactor

/// Hears that an exchange's timer has fired. Called on the loop.
protocol ExchangeOwner: AnyObject {
    /// Handles the timer: a limit may have passed, or what an exchange waits for may be due. Never called for a free
    /// exchange.
    func timerFired(of exchange: Exchange)
}

/// The part of an engine that all its exchanges share.
final class ExchangeHome {
    let loop: EventLoop
    /// The configuration's limits, in the clock's unit.
    let spans: Timeouts.Spans
    /// The engine, which removes itself from here when it is released: as long as an exchange is not free, a
    /// connection, a dial or a posted failure keeps it alive. It is not weak: every reference to a weakly held engine
    /// is counted in a separate table.
    unowned(unsafe) var owner: (any ExchangeOwner)?

    init(_ loop: EventLoop, _ spans: Timeouts.Spans) {
        self.loop = loop
        self.spans = spans
    }
}
