internal import CLinux

/// A point on the monotonic clock, in nanoseconds. Tests hand the loop instants of their own.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's beginning, which is the machine's start.
    public var nanoseconds: Int64

    /// An instant from its nanoseconds.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Later than any instant a clock reaches: "no deadline".
    public static let never = Instant(nanoseconds: .max)

    /// The monotonic clock now (a vDSO call, about 35 ns).
    public static func current() -> Instant {
        Instant(nanoseconds: uncurl_clock_ns(CLOCK_MONOTONIC))
    }

    /// The clock that goes on in suspend: what the age of a parked connection is measured by,
    /// since a peer's idle limit runs on while this machine sleeps.
    public static func sinceBoot() -> Instant {
        Instant(nanoseconds: uncurl_clock_ns(CLOCK_BOOTTIME))
    }

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Saturates at ``never``: a caller's absurd timeout means no timeout, never a trap.
    public func advanced(by span: Duration) -> Instant { advanced(byNanoseconds: span.wholeNanoseconds) }

    /// The same for nanoseconds.
    public func advanced(byNanoseconds span: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(span)
        return overflow ? (span > 0 ? .never : Instant(nanoseconds: .min)) : Instant(nanoseconds: sum)
    }

    /// Nanoseconds from `earlier` to here; negative if `earlier` lies later.
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
