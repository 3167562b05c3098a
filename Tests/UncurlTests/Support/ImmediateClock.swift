import Synchronization

/// A clock on which nobody waits: a sleeper is woken at once, and it is that much later. It remembers for how long.
final class ImmediateClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let state = Mutex((now: Instant(offset: .zero), slept: [Duration]()))

    var slept: [Duration] { state.withLock { $0.slept } }
    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        state.withLock { state in
            state.slept.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
    }
}
