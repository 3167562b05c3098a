internal import CLinux

/// How many descriptors this process may have open at once.
public enum DescriptorLimit {
    /// The present limit (RLIMIT_NOFILE's soft one), which may be changed at any time. One system call.
    public static var current: Int {
        var (soft, hard): (UInt64, UInt64) = (0, 0)
        guard unsafe uncurl_nofile(&soft, &hard) == 0 else { return 1024 }
        return Int(clamping: soft)
    }

    /// Makes the kernel's table of this process's descriptors large enough for `count` of them, which must be within
    /// ``current``; otherwise this does nothing.
    ///
    /// The kernel doubles the table at 256, 512, 1,024 … descriptors. In a process with several threads, the thread
    /// that opens a descriptor then waits 10 to 25 ms for all processors (`expand_fdtable`): on a loop, all connections
    /// wait. So a program with many connections calls this before it starts its threads. A descriptor takes eight bytes
    /// of the kernel's memory.
    public static func reserve(_ count: Int) { uncurl_reserve_descriptors(CInt(clamping: count)) }
}
