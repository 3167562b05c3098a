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
        if exchange.rest == .none { places.restBegan() }
        exchange.rest(for: reason, at: loop.now)
        exchange.watch(at: loop.now)
        if let connection = connection(of: exchange) { watchPlaces(at: connection.host) }
    }

    func endRest(of exchange: Exchange) {
        guard exchange.rest != .none else { return }
        places.restEnded()
        exchange.rest(for: .none, at: loop.now)
        takePlaceBack(of: exchange)
    }

    func takePlaceBack(of exchange: Exchange) {
        guard let host = exchange.takePlaceBack() else { return }
        places.takeBack()
        host.pool.takePlaceBack(ofQueueDial: false)
    }

    func dial(_ dial: Dial, isAsking: Bool) {
        guard let isQueueDial = dial.isQueueDial else { return }
        guard !isAsking else {
            places.restBegan()
            return watchPlaces(at: dial.host)
        }
        places.restEnded()
        guard dial.takePlaceBack() else { return }
        places.takeBack()
        dial.host.pool.takePlaceBack(ofQueueDial: isQueueDial)
    }

    /// Arms the timer if an exchange waits for a connection while others wait for the program.
    func watchPlaces(at host: Host) {
        guard places.isWorthWatching, isWanted(host) else { return }
        let instant = loop.now.advanced(byNanoseconds: LentPlaces.patience(at: host))
        places.watch(by: loop.arm(at: instant, TimerCall { [self] in lendPlaces() }))
    }

    func stopLending() {
        if let timer = places.endWatch() { loop.cancel(timer) }
    }

    /// Whether an exchange waits for a place at this host, or at another one for any place.
    private func isWanted(_ host: Host) -> Bool { host.pool.isShort || hosts.hasStarved }

    /// Lends the places of those that have waited long enough for the program.
    private func lendPlaces() {
        _ = places.endWatch()
        for exchange in exchanges where exchange.rest != .none && exchange.lentAt == nil {
            guard let host = connection(of: exchange)?.host, isWanted(host) else { continue }
            guard isDue(since: exchange.restingSince, at: host) else {
                watchPlaces(at: host)
                continue
            }
            exchange.lendPlace(to: host)
            lendPlace(at: host, ofQueueDial: false)
        }
        for dial in dials.all {
            guard let since = dial.askingSince, let isQueueDial = dial.isQueueDial, !dial.hasLent else { continue }
            guard isWanted(dial.host) else { continue }
            guard isDue(since: since, at: dial.host) else {
                watchPlaces(at: dial.host)
                continue
            }
            dial.lendPlace()
            lendPlace(at: dial.host, ofQueueDial: isQueueDial)
        }
    }

    private func isDue(since instant: Instant, at host: Host) -> Bool {
        loop.now.nanoseconds(since: instant) >= LentPlaces.patience(at: host)
    }

    private func lendPlace(at host: Host, ofQueueDial isQueueDial: Bool) {
        places.lend()
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

/// The places at hosts that are not in use, because their exchanges wait for the program.
struct LentPlaces {
    /// How many exchanges and dials wait for the program.
    private var resting = 0
    /// How many of them have lent their places.
    private(set) var lent = 0
    /// Armed while one that waits for the program may have to lend its place.
    private var timer: TimerID?

    /// Whether one waits for the program and has its place, and no timer is armed for that yet.
    var isWorthWatching: Bool { resting > lent && timer == nil }

    mutating func restBegan() { resting += 1 }

    mutating func restEnded() { resting -= 1 }

    mutating func lend() { lent += 1 }

    mutating func takeBack() { lent -= 1 }

    mutating func watch(by timer: TimerID) { self.timer = timer }

    /// Returns the timer, which is no longer armed or is to be cancelled; nil if there is none.
    mutating func endWatch() -> TimerID? { timer.take() }

    /// How long one waits for the program before it lends its place, in nanoseconds. Most questions are answered
    /// sooner, and then the limits on connections are kept. Where another place is already lent, those that follow have
    /// to be quick: what the program waits for may stand behind all of them.
    static func patience(at host: Host) -> Int64 { host.pool.hasLent ? 10_000_000 : 100_000_000 }
}
