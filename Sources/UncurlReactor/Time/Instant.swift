internal import CUncurlLinux

/// A point on the monotonic clock, in nanoseconds. Tests give the loop instants of their own.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's beginning, which is the machine's start.
    public var nanoseconds: Int64

    /// Makes an instant from its nanoseconds.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// An instant later than any that a clock reaches: "no deadline".
    public static let never = Instant(nanoseconds: .max)

    /// Returns the monotonic clock's time (a vDSO call, about 35 ns).
    public static func current() -> Instant {
        Instant(nanoseconds: uncurl_clock_ns(CLOCK_MONOTONIC))
    }

    /// Returns the time of the clock that also counts suspend. The age of a parked connection is measured by it, since
    /// a peer's idle limit goes on while this machine sleeps.
    public static func sinceBoot() -> Instant {
        Instant(nanoseconds: uncurl_clock_ns(CLOCK_BOOTTIME))
    }

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns a later instant. It saturates at ``never``: an absurd timeout of a caller's means no timeout, and never
    /// a trap.
    public func advanced(by span: Duration) -> Instant { advanced(byNanoseconds: span.wholeNanoseconds) }

    /// Returns an instant that many nanoseconds later; saturates too.
    public func advanced(byNanoseconds span: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(span)
        return overflow ? (span > 0 ? .never : Instant(nanoseconds: .min)) : Instant(nanoseconds: sum)
    }

    /// Returns the nanoseconds from `earlier` to this instant; negative if `earlier` is later.
    public func nanoseconds(since earlier: Instant) -> Int64 { nanoseconds &- earlier.nanoseconds }
}

extension Duration {
    /// The duration in nanoseconds, clamped to what 64 bits hold (292 years).
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds > 0 ? .max : .min }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds > 0 ? .max : .min) : sum
    }
}
