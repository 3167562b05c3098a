internal import Foundation
internal import UncurlReactor

/// The time limit of one read or write. The time stops while the task is suspended. Loop-confined.
final class StreamLimit: TimerHandler {
    private enum State {
        case running(TimerID, until: Instant)
        /// In nanoseconds.
        case standing(left: Int64)
        case over
    }

    private let loop: EventLoop
    private let act: () -> Void
    private var state: State

    /// - Parameters:
    ///   - seconds: the limit; if it means no limit (``RequestBuilder/duration(_:)``), the initialiser returns nil.
    ///   - isStanding: whether the task is suspended already.
    init?(_ seconds: TimeInterval, on loop: EventLoop, isStanding: Bool, _ act: @escaping () -> Void) {
        guard let limit = RequestBuilder.duration(seconds) else { return nil }
        (self.loop, self.act) = (loop, act)
        state = .standing(left: limit.wholeNanoseconds)
        if !isStanding { go() }
    }

    func go() {
        guard case .standing(let left) = state else { return }
        let end = loop.now.advanced(byNanoseconds: left)
        state = .running(loop.arm(at: end, self), until: end)
    }

    func stand() {
        guard case .running(let timer, let end) = state else { return }
        loop.cancel(timer)
        state = .standing(left: max(0, end.nanoseconds(since: loop.now)))
    }

    func cancel() {
        if case .running(let timer, _) = state { loop.cancel(timer) }
        state = .over
    }

    func timerFired(_ id: TimerID) {
        state = .over
        act()
    }
}
