internal import Reactor

/// What a connection does where the rates of its exchange hold it.
extension Connection {
    /// No bytes may leave for now: room in the socket is of no interest.
    func holdSending(_ exchange: Exchange) {
        exchange.throttle?.holdSending()
        link.updateInterest(reading: exchange.isReading, writing: false)
        exchange.watch(at: loop.now)
    }

    /// Enough has been read for now: the socket fills, and the peer waits.
    func holdReading(_ exchange: Exchange) {
        link.updateInterest(reading: false, writing: link.awaitsRoom)
        exchange.watch(at: loop.now)
    }

    /// A timer of the exchange has fired: content that waited for a 100 is sent without it, and what its rates held may go on.
    func timerFired(of exchange: Exchange) {
        if case .awaitingContinue(let end) = exchange.sending, loop.now >= end { sendAwaitedContent(exchange) }
        if let throttle = exchange.throttle { goOn(exchange, throttle) }
    }

    /// What is due of what the rates held goes on.
    private func goOn(_ exchange: Exchange, _ throttle: Throttle) {
        let due = throttle.resume(at: loop.now)
        // The idle limit stood still for what was held by us.
        if due.reading {
            exchange.lastActivity = loop.now
            link.resumeReading(exchange.isReading)
        }
        if due.sending { loop.reschedule(link.token) }
    }
}
