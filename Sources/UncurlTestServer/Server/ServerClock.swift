internal import Glibc
internal import UncurlReactor

/// The time of day, for Date, and deliberate sleep.
enum ServerClock {
    /// Seconds since 1970, and the nanoseconds left until the next one.
    static func now() -> (seconds: Int64, nanosecondsLeft: Int64) {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), 1_000_000_000 - Int64(time.tv_nsec))
    }

    /// Blocks the thread. Only `/freeze` uses it.
    static func sleep(_ span: Duration) {
        let nanoseconds = max(0, span.wholeNanoseconds)
        var left = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var rest = timespec()
        while unsafe nanosleep(&left, &rest) == -1 { left = rest }
    }
}
