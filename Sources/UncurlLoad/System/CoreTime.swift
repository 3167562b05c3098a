internal import CUncurlLinux

/// The processor time of the calling thread, and how long it waited for a core, in nanoseconds.
package struct CoreTime: Sendable {
    package let used: UInt64
    /// The time that the thread had work and no core. 0 where the kernel does not report it.
    package let queued: UInt64

    static func now() -> CoreTime {
        // The scheduler's own count (proc_pid_schedstat): time run, time runnable, slices.
        let counts = Files.numbers(in: "/proc/thread-self/schedstat")
        return CoreTime(
            used: UInt64(clamping: uncurl_thread_cpu_ns()),
            queued: counts.count > 1 ? counts[1] : 0
        )
    }

    package init(used: UInt64, queued: UInt64) { (self.used, self.queued) = (used, queued) }

    static func - (later: CoreTime, earlier: CoreTime) -> CoreTime {
        CoreTime(used: later.used &- earlier.used, queued: later.queued &- earlier.queued)
    }

    static let none = CoreTime(used: 0, queued: 0)
}
