internal import CUncurlLinux
package import UncurlReactor

/// What this machine allows a process that opens many connections. It is read once; tests supply their own.
package struct SystemLimits: Hashable, Sendable {
    var softDescriptors: UInt64 = 1_024
    var hardDescriptors: UInt64 = 1_048_576
    /// Local ports for one source address towards one destination (`ip_local_port_range`).
    var ports: UInt64 = 28_232
    /// The longest accept queue that a local server can have.
    var acceptQueue: UInt64 = 4_096
    /// The setting `tcp_tw_reuse`: 0 never, 1 everywhere, 2 on loopback only. A port can be used again after a second.
    var timeWaitReuse: UInt64 = 2
    /// The number of connections that connection tracking has room for. Nil where it is not loaded.
    var trackedConnections: UInt64?

    /// Linux's defaults since 5.4, for limits that `/proc` does not have.
    package static let usual = SystemLimits()

    /// The limits for a process that opens no connection of its own.
    package static let none = SystemLimits(
        softDescriptors: 1 << 40,
        hardDescriptors: 1 << 40,
        ports: 1 << 40,
        acceptQueue: UInt64(UInt32.max),
        timeWaitReuse: 1
    )

    package static func read() -> SystemLimits {
        var limits = usual
        var soft: UInt64 = 0
        var hard: UInt64 = 0
        if unsafe uncurl_nofile(&soft, &hard) == 0 {
            (limits.softDescriptors, limits.hardDescriptors) = (soft, hard)
        }
        let range = numbers(inFile: "/proc/sys/net/ipv4/ip_local_port_range")
        if range.count == 2, range[0] <= range[1] { limits.ports = range[1] - range[0] + 1 }
        if let queue = numbers(inFile: "/proc/sys/net/core/somaxconn").first { limits.acceptQueue = queue }
        if let reuse = numbers(inFile: "/proc/sys/net/ipv4/tcp_tw_reuse").first { limits.timeWaitReuse = reuse }
        if let most = numbers(inFile: "/proc/sys/net/netfilter/nf_conntrack_max").first,
            let now = numbers(inFile: "/proc/sys/net/netfilter/nf_conntrack_count").first
        {
            limits.trackedConnections = most > now ? most - now : 0
        }
        return limits
    }

    /// Raises this process's soft limit of descriptors. Returns false if the kernel refuses.
    package static func raiseDescriptors(to soft: UInt64, hard: UInt64) -> Bool {
        uncurl_set_nofile(soft, hard) == 0
    }
}

/// The processor time of a thread, and the time that it had work and no core, in nanoseconds. The latter is 0 where the
/// kernel does not report it.
package typealias CoreTime = (used: UInt64, queued: UInt64)

/// The times of the calling thread since its start, or since these times.
func coreTime(since earlier: CoreTime = (0, 0)) -> CoreTime {
    // The scheduler's own count (proc_pid_schedstat): time run, time runnable, slices.
    let counts = numbers(inFile: "/proc/thread-self/schedstat")
    let queued = counts.count > 1 ? counts[1] : 0
    return (UInt64(clamping: uncurl_thread_cpu_ns()) &- earlier.used, queued &- earlier.queued)
}

/// The processor time that the host of this virtual machine gave to others while the machine had work for it: `steal`
/// in `/proc/stat` (proc_stat(5)), all processors together.
///
/// The kernel counts it in ticks of 10 ms. Between two readings it is interpolated.
package struct StolenTime: Sendable {
    /// The oldest first. The time is in nanoseconds since the machine's start.
    private var readings: [(instant: Instant, stolen: UInt64)] = []

    package init() {}

    /// Reads the time now. Does nothing where the kernel does not report it.
    package mutating func read() {
        guard let bytes = try? readStart(of: "/proc/stat", count: 512),
            let stolen = Self.nanoseconds(inStat: String(decoding: bytes, as: UTF8.self))
        else { return }
        note(stolen, at: .current())
    }

    package mutating func note(_ stolen: UInt64, at instant: Instant) { readings.append((instant, stolen)) }

    /// Returns the nanoseconds that were stolen between two instants, the earlier one first; nil without a reading.
    package func between(_ start: Instant, _ end: Instant) -> UInt64? {
        guard let before = stolen(until: start), let after = stolen(until: end) else { return nil }
        return after - min(before, after)
    }

    package mutating func forget(before instant: Instant) {
        guard let next = readings.firstIndex(where: { $0.instant > instant }), next > 1 else { return }
        readings.removeFirst(next - 1)
    }

    private func stolen(until instant: Instant) -> UInt64? {
        guard let first = readings.first, let last = readings.last else { return nil }
        guard let next = readings.firstIndex(where: { $0.instant > instant }) else { return last.stolen }
        guard next > 0 else { return first.stolen }
        let (early, late) = (readings[next - 1], readings[next])
        let share =
            Double(instant.nanoseconds(since: early.instant)) / Double(late.instant.nanoseconds(since: early.instant))
        return early.stolen + UInt64(Double(late.stolen - min(early.stolen, late.stolen)) * share)
    }

    /// Returns the eighth number of the line `cpu` in nanoseconds; nil where the file has no such line.
    static func nanoseconds(inStat text: String) -> UInt64? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("cpu ") }) else { return nil }
        let counts = line.split(separator: " ").dropFirst().map { UInt64($0) }
        guard counts.count > 7, let ticks = counts[7] else { return nil }
        return ticks.multipliedReportingOverflow(by: 10_000_000).partialValue
    }
}
