internal import CUncurlLinux

/// What this machine allows a process that opens many connections. It is read once; tests supply their own.
package struct SystemLimits: Hashable, Sendable {
    var softDescriptors: UInt64
    var hardDescriptors: UInt64
    /// Local ports for one source address towards one destination (`ip_local_port_range`).
    var ports: UInt64
    /// The longest accept queue that a local server can have.
    var acceptQueue: UInt64
    /// The setting `tcp_tw_reuse`: 0 never, 1 everywhere, 2 on loopback only. A port can be used again after a second.
    var timeWaitReuse: UInt64
    /// The number of connections that connection tracking has room for. Nil where it is not loaded.
    var trackedConnections: UInt64?

    /// Linux's defaults since 5.4, for limits that `/proc` does not have.
    package static let usual = SystemLimits(
        softDescriptors: 1_024,
        hardDescriptors: 1_048_576,
        ports: 28_232,
        acceptQueue: 4_096,
        timeWaitReuse: 2,
        trackedConnections: nil
    )

    /// The limits for a process that opens no connection of its own.
    package static let none = SystemLimits(
        softDescriptors: 1 << 40,
        hardDescriptors: 1 << 40,
        ports: 1 << 40,
        acceptQueue: UInt64(UInt32.max),
        timeWaitReuse: 1,
        trackedConnections: nil
    )

    package static func read() -> SystemLimits {
        var limits = usual
        var soft: UInt64 = 0
        var hard: UInt64 = 0
        if unsafe uncurl_nofile(&soft, &hard) == 0 {
            (limits.softDescriptors, limits.hardDescriptors) = (soft, hard)
        }
        let range = Files.numbers(in: "/proc/sys/net/ipv4/ip_local_port_range")
        if range.count == 2, range[0] <= range[1] { limits.ports = range[1] - range[0] + 1 }
        if let queue = Files.numbers(in: "/proc/sys/net/core/somaxconn").first { limits.acceptQueue = queue }
        if let reuse = Files.numbers(in: "/proc/sys/net/ipv4/tcp_tw_reuse").first { limits.timeWaitReuse = reuse }
        if let most = Files.numbers(in: "/proc/sys/net/netfilter/nf_conntrack_max").first,
            let now = Files.numbers(in: "/proc/sys/net/netfilter/nf_conntrack_count").first
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
