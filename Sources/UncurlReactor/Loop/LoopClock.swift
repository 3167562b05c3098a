internal import Synchronization

/// The source of a loop's time.
public enum LoopClock: Sendable {
    /// The machine's clock (CLOCK_MONOTONIC), which stops while the machine sleeps.
    case monotonic
    /// A clock that stops until ``ManualClock/advance(by:waking:)``: tests of timers do not have to wait.
    case manual(ManualClock)

    var now: Instant {
        switch self {
        case .monotonic: .current()
        case .manual(let clock): clock.now
        }
    }

    /// How long the machine has slept since it started; a manual clock never does.
    var nanosecondsInSuspend: Int64 {
        switch self {
        case .monotonic: Instant.sinceBoot().nanoseconds(since: .current())
        case .manual: 0
        }
    }
}

/// A clock that only advances when told to. Any thread.
public final class ManualClock: Sendable {
    private let nanoseconds: Atomic<Int64>

    /// Makes a clock with the time `start`.
    public init(start: Instant = Instant(nanoseconds: 1 << 40)) {
        nanoseconds = Atomic(start.nanoseconds)
    }

    /// The time that it was advanced to.
    public var now: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }

    /// Advances the time and wakes `loop`, so that the timers that have run out fire.
    public func advance(by span: Duration, waking loop: EventLoop) {
        nanoseconds.wrappingAdd(span.wholeNanoseconds, ordering: .acquiringAndReleasing)
        loop.wake()
    }
}
