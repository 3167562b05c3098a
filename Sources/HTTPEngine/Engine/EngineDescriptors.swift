internal import Reactor

/// What an engine does when there are no more descriptors, or no memory for sockets.
extension Engine {
    /// How often a dial that waits for a descriptor tries again: other parts of the process may have released one.
    private static let descriptorPause = Duration.milliseconds(50)

    /// Closes an idle connection, so that a descriptor comes free: this engine's oldest, or else one of an engine that
    /// shares its budget. Waits for other loops, for `limit` at most. Returns false if there was none. Loop thread
    /// only.
    public func makeRoom(within limit: Duration = .milliseconds(100)) -> Bool {
        if closeEldestIdle() { return true }
        return configuration.budget?.relieve(within: limit) ?? false
    }

    /// Lets a dial that has found no descriptor wait until one may have come free, up to its own limit: an idle
    /// connection is closed for it, or a busy one ends. Returns false if no connection holds a descriptor: the dial has
    /// failed.
    func awaitDescriptor(_ dial: Dial) -> Bool {
        // A probe is to find out whether a connection can be opened.
        if case .probe = dial.purpose { return false }
        if closeEldestIdle() || connections.count > 0 {
            line(up: dial)
            return true
        }
        guard let budget = configuration.budget, budget.open > 0 else { return false }
        line(up: dial)
        let handle = handle
        budget.relieve { found in
            handle.post { found ? $0.feedStarved() : $0.failDials() }
        }
        return true
    }

    /// Lets the dial that waits longest try again, since a descriptor may have come free. A dial whose waiters have
    /// been served by other connections ends here.
    func feedDials() {
        while let dial = descriptorLine.next() {
            guard dial.isSurplus else { return dial.connect() }
            abandon(dial)
        }
    }

    func leaveLine(_ dial: Dial) { descriptorLine.remove(dial) }

    private func line(up dial: Dial) {
        descriptorLine.append(dial)
        watchLine()
    }

    /// Fails the dials that wait: no engine of the budget holds a descriptor that could come free.
    private func failDials() {
        guard connections.count == 0 else { return }
        for dial in descriptorLine.takeAll() { dial.giveUpWaiting() }
    }

    private func watchLine() {
        descriptorLine.watch(on: loop, after: Engine.descriptorPause, DescriptorTimer(self))
    }

    fileprivate func descriptorTimerFired() {
        descriptorLine.timerFired()
        feedStarved()
        watchLine()
    }
}

private final class DescriptorTimer: TimerHandler {
    let engine: Engine
    init(_ engine: Engine) { self.engine = engine }
    func timerFired(_ id: TimerID) { engine.descriptorTimerFired() }
}
