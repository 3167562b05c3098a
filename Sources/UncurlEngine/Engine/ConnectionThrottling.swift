internal import UncurlReactor

/// What a connection does when the rates of its exchange hold it.
extension Connection {
    /// Stops sending until the rate allows more: the loop does not report room in the socket meanwhile.
    func holdSending(_ exchange: Exchange) {
        exchange.throttle?.holdSending()
        link.updateInterest(reading: exchange.isReading, writing: false)
        exchange.watch(at: loop.now)
    }

    /// Stops reading until the rate allows more: the socket fills, and the peer waits.
    func holdReading(_ exchange: Exchange) {
        link.updateInterest(reading: false, writing: link.awaitsRoom)
        exchange.watch(at: loop.now)
    }

    /// Handles a timer of the exchange: content that waited for a 100 is sent without it, and transfers that the rates
    /// held may go on. What the kernel was given may have moved since the last look.
    func timerFired(of exchange: Exchange) {
        if exchange.isLookDue(at: loop.now) { lookAtSending(exchange) }
        if case .awaitingContinue(let end) = exchange.sending, loop.now >= end { sendAwaitedContent(exchange) }
        if let throttle = exchange.throttle { goOn(exchange, throttle) }
    }

    /// Continues what the rates had stopped, as far as it is due.
    private func goOn(_ exchange: Exchange, _ throttle: RateKeeper) {
        let due = throttle.resume(at: loop.now)
        // The idle limit stops while the rate stops the reading.
        if due.reading {
            exchange.noteActivity(at: loop.now)
            link.resumeReading(exchange.isReading)
        }
        if due.sending { loop.reschedule(link.token) }
    }
}
