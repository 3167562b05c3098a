internal import UncurlReactor

/// A timer that runs a closure.
final class TimerCall: TimerHandler {
    private let ring: () -> Void

    init(_ ring: @escaping () -> Void) { self.ring = ring }

    func timerFired(_ id: TimerID) { ring() }
}
