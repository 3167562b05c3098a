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
        while let dial = descriptorLine.next() {
            guard dial.isSurplus else { return dial.connect() }
            abandon(dial)
        }
    }

    func leaveLine(_ dial: Dial) { descriptorLine.remove(dial) }

    private func watchLine() {
        descriptorLine.watch(
            on: loop,
            after: Engine.descriptorPause,
            TimerCall { [self] in
                descriptorLine.timerFired()
                feedStarved()
                watchLine()
            }
        )
    }
}

/// The dials that wait for a descriptor, the oldest first, and the timer of their next attempt.
struct DescriptorLine {
    private var dials: [Dial] = []
    private var timer: TimerID?

    var isEmpty: Bool { dials.isEmpty }

    mutating func append(_ dial: Dial) { dials.append(dial) }
    mutating func remove(_ dial: Dial) { dials.removeAll { $0 === dial } }

    /// Removes and returns the dial that has waited longest.
    mutating func next() -> Dial? { dials.isEmpty ? nil : dials.removeFirst() }

    /// Arms the timer if dials wait, and it is not armed.
    mutating func watch(on loop: EventLoop, after pause: Duration, _ handler: @autoclosure () -> any TimerHandler) {
        guard timer == nil, !dials.isEmpty else { return }
        timer = loop.arm(at: loop.now.advanced(by: pause), handler())
    }

    mutating func timerFired() { timer = nil }

    mutating func disarm(on loop: EventLoop) {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
