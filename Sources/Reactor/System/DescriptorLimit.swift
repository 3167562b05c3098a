internal import CLinux

/// How many descriptors this process may have open at once.
public enum DescriptorLimit {
    /// The present limit (RLIMIT_NOFILE's soft one), which may be changed at any time. One system call.
    public static var current: Int {
        var (soft, hard): (UInt64, UInt64) = (0, 0)
        guard unsafe uncurl_nofile(&soft, &hard) == 0 else { return 1024 }
        return Int(clamping: soft)
    }
}
