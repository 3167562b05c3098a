internal import UncurlReactor

/// Lets exchanges that wait for the program lend their places. What the program waits for may itself need a connection
/// to the same host: otherwise the answer to a question would wait for the question.
extension Engine {
    /// Notes what an exchange waits for on the program's side. While it waits, its connection does not count towards
    /// the limits on connections after a tenth of a second, if another exchange waits for a connection. When it goes
    /// on, its connection counts again, and connections above the limits are closed as they come free.
    public func rest(_ id: ExchangeID, for reason: Rest) {
        guard let exchange = exchange(id), exchange.rest != reason else { return }
        guard reason != .none else { return endRest(of: exchange) }
        if exchange.rest == .none { resting += 1 }
        exchange.rest(for: reason, at: loop.now)
        exchange.watch(at: loop.now)
        if let connection = connection(of: exchange) { watchPlaces(at: connection.host) }
    }

    func endRest(of exchange: Exchange) {
        guard exchange.rest != .none else { return }
        resting -= 1
        exchange.rest(for: .none, at: loop.now)
        takePlaceBack(of: exchange)
    }

    func takePlaceBack(of exchange: Exchange) {
        guard let host = exchange.takePlaceBack() else { return }
        lent -= 1
        host.pool.takePlaceBack(ofQueueDial: false)
    }

    /// Notes whether the dial waits for the answer to a question. Called in pairs; the second call may come with its
    /// end.
    func dial(_ dial: Dial, isAsking: Bool) {
        guard let isQueueDial = dial.isQueueDial else { return }
        guard !isAsking else {
            resting += 1
            return watchPlaces(at: dial.host)
        }
        resting -= 1
        guard dial.hasLent else { return }
        dial.hasLent = false
        lent -= 1
        dial.host.pool.takePlaceBack(ofQueueDial: isQueueDial)
    }

    /// Arms the timer if an exchange waits for a connection while others wait for the program.
    func watchPlaces(at host: Host) {
        guard resting > lent, lendingTimer == nil, isWanted(host) else { return }
        let instant = loop.now.advanced(byNanoseconds: Engine.patience(at: host))
        lendingTimer = loop.arm(at: instant, TimerCall { [self] in lendPlaces() })
    }

    /// Whether an exchange waits for a place at this host, or at another one for any place.
    private func isWanted(_ host: Host) -> Bool { host.pool.isShort || hosts.hasStarved }

    private func lendPlaces() {
        lendingTimer = nil
        for exchange in exchanges where exchange.rest != .none && exchange.lentAt == nil {
            guard let host = connection(of: exchange)?.host, isWanted(host) else { continue }
            guard isDue(since: exchange.restingSince, at: host) else {
                watchPlaces(at: host)
                continue
            }
            exchange.lendPlace(to: host)
            lendPlace(at: host, ofQueueDial: false)
        }
        for dial in dials.values {
            guard let since = dial.askingSince, let isQueueDial = dial.isQueueDial, !dial.hasLent else { continue }
            guard isWanted(dial.host) else { continue }
            guard isDue(since: since, at: dial.host) else {
                watchPlaces(at: dial.host)
                continue
            }
            dial.hasLent = true
            lendPlace(at: dial.host, ofQueueDial: isQueueDial)
        }
    }

    private func isDue(since instant: Instant, at host: Host) -> Bool {
        loop.now.nanoseconds(since: instant) >= Engine.patience(at: host)
    }

    /// How long one waits for the program before it lends its place, in nanoseconds. Most questions are answered
    /// sooner, and then the limits on connections are kept. Where another place is already lent, those that follow have
    /// to be quick: what the program waits for may stand behind all of them.
    private static func patience(at host: Host) -> Int64 { host.pool.hasLent ? 10_000_000 : 100_000_000 }

    private func lendPlace(at host: Host, ofQueueDial isQueueDial: Bool) {
        lent += 1
        host.pool.lendPlace(ofQueueDial: isQueueDial)
        perform(host.pool.dialIfNeeded(), host)
        feedStarved()
    }
}

extension Dial {
    /// Whether it is for the queue of its host's pool; nil if it takes no place.
    fileprivate var isQueueDial: Bool? {
        switch purpose {
        case .pool: true
        case .retry: false
        case .probe, .stream: nil
        }
    }
}
