internal import Synchronization

/// Where a loop takes its time from.
public enum LoopClock: Sendable {
    /// The machine's clock (CLOCK_MONOTONIC), which stands still while the machine sleeps.
    case monotonic
    /// Time stands still until ``ManualClock/advance(by:waking:)``: tests of timers wait for nothing.
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

/// A clock that moves only when told. Usable from any thread.
public final class ManualClock: Sendable {
    private let nanoseconds: Atomic<Int64>

    /// A clock that stands at `start`.
    public init(start: Instant = Instant(nanoseconds: 1 << 40)) {
        nanoseconds = Atomic(start.nanoseconds)
    }

    /// The time it was moved to.
    public var now: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }

    /// Moves time on and wakes `loop`, so that what has run out fires.
    public func advance(by span: Duration, waking loop: EventLoop) {
        nanoseconds.wrappingAdd(span.wholeNanoseconds, ordering: .acquiringAndReleasing)
        loop.wake()
    }
}
