import Synchronization

/// A clock that wakes each sleeper at once and moves its time on by as much. It remembers for how long each slept.
public final class ImmediateClock: Clock, Sendable {
    public struct Instant: InstantProtocol {
        var offset: Duration

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let state = Mutex((now: Instant(offset: .zero), slept: [Duration]()))

    public init() {}

    public var slept: [Duration] { state.withLock { $0.slept } }
    public var now: Instant { state.withLock { $0.now } }
    public var minimumResolution: Duration { .zero }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        state.withLock { state in
            state.slept.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
    }
}

/// A clock that stands still: its sleepers sleep until they are cancelled. It remembers for how long each was to sleep.
public final class StillClock: Clock, Sendable {
    private let base = ImmediateClock()
    public let slept = Log<Duration>()

    public init() {}

    public var now: ImmediateClock.Instant { base.now }
    public var minimumResolution: Duration { .zero }

    public func sleep(until deadline: ImmediateClock.Instant, tolerance: Duration?) async throws {
        slept.add(now.duration(to: deadline))
        try await Task.sleep(for: .seconds(86_400))
    }
}
