internal import UncurlReactor

/// What an engine does when there are no more descriptors, or no memory for sockets.
extension Engine {
    /// How often a dial that waits for a descriptor tries again: other parts of the process may have released one.
    private static let descriptorPause = Duration.milliseconds(50)

    /// Lets a dial that has found no descriptor wait until one may have come free, up to its own limit: an idle
    /// connection is closed for it, of an engine that shares the budget if this one has none, or a busy one ends, or
    /// another part of the process gives one back. Returns false for a probe: it is to find out whether a connection
    /// can be opened.
    func awaitDescriptor(_ dial: Dial) -> Bool {
        if case .probe = dial.purpose { return false }
        descriptorLine.append(dial)
        watchLine()
        guard !closeEldestIdle(), connections.count == 0 else { return true }
        let handle = handle
        configuration.budget?.relieve { found in
            if found { handle.post { $0.feedStarved() } }
        }
        return true
    }

    /// Waits for the descriptor of something else, such as a file: closes an idle connection for it, this engine's
    /// oldest or else one of an engine that shares its budget, and calls `retry` after 50 ms. Loop thread only.
    public func awaitDescriptor(then retry: @escaping () -> Void) {
        if !closeEldestIdle() { configuration.budget?.relieve { _ in } }
        _ = loop.arm(at: loop.now.advanced(by: Engine.descriptorPause), TimerCall(retry))
    }

    /// Lets the dial that waits longest try again, since a descriptor may have come free. A dial whose waiters have
    /// been served by other connections ends here.
    func feedDials() {
        while !descriptorLine.isEmpty {
            let dial = descriptorLine.removeFirst()
            guard dial.isSurplus else { return dial.connect() }
            abandon(dial)
        }
    }

    func leaveLine(_ dial: Dial) { descriptorLine.removeAll { $0 === dial } }

    private func watchLine() {
        guard descriptorTimer == nil, !descriptorLine.isEmpty else { return }
        let retry = TimerCall { [self] in
            descriptorTimer = nil
            feedStarved()
            watchLine()
        }
        descriptorTimer = loop.arm(at: loop.now.advanced(by: Engine.descriptorPause), retry)
    }
}
