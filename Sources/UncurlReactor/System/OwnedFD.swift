internal import CUncurlLinux

/// A file descriptor with exactly one owner. It is closed when the owner is released.
///
/// `close` is never repeated after EINTR: Linux has released the number by then, and another thread may already have it
/// (close(2), NOTES).
public struct OwnedFD: ~Copyable, Sendable {
    /// The descriptor's number, valid as long as this value is.
    public let number: CInt

    /// Takes over `number`; nothing else may close it from here on.
    public init(taking number: CInt) {
        self.number = number
        #if DEBUG
        FaultPlan.current?.opened(number)
        #endif
    }

    deinit {
        #if DEBUG
        FaultPlan.current?.closed(number)
        #endif
        _ = close(number)
    }

    /// Gives the descriptor away without closing it.
    public consuming func release() -> CInt {
        let number = number
        #if DEBUG
        FaultPlan.current?.closed(number)
        #endif
        discard self
        return number
    }
}

/// How many descriptors this process may have open at once.
public enum DescriptorLimit {
    /// The present limit (RLIMIT_NOFILE's soft one), which may be changed at any time. One system call.
    public static var current: Int {
        var (soft, hard): (UInt64, UInt64) = (0, 0)
        guard unsafe uncurl_nofile(&soft, &hard) == 0 else { return 1024 }
        return Int(clamping: soft)
    }

    /// How many descriptors are left to the rest of the process: Dispatch ends a process in which it finds none for its
    /// own files. A quarter of a limit that is lower than four times that.
    private static let reserve = 16

    /// How many descriptors are left to files: a download's connection waits for its file, so connections must not have
    /// them all.
    private static let files = 64

    /// Whether a file may have the descriptor of this number. The kernel gives the lowest free number, so all below it
    /// are in use.
    package static func hasPlace(for number: CInt) -> Bool {
        let limit = current
        return Int(number) < limit - min(reserve, limit / 4)
    }

    /// Whether a connection may have the descriptor of this number.
    static func hasPlace(forConnection number: CInt) -> Bool {
        hasPlace(for: number + CInt(clamping: min(files, current / 8)))
    }

    /// Whether a file would get a descriptor now. Three system calls: for what has failed already.
    package static var hasPlace: Bool {
        let number = unsafe uncurl_open_read("/dev/null")
        guard number >= 0 else { return false }
        return hasPlace(for: OwnedFD(taking: number).number)
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

/// Runs a call that opens the descriptor of a connection or a file. One that belongs to the rest of the process is
/// given back, as if there were none.
@inline(__always)
func opening(_ kind: SystemCall, _ call: () -> CInt) throws(Errno) -> OwnedFD {
    let descriptor = OwnedFD(taking: try callingOnce(kind, call))
    let number = descriptor.number
    let hasPlace =
        kind == .socket ? DescriptorLimit.hasPlace(forConnection: number) : DescriptorLimit.hasPlace(for: number)
    guard hasPlace else { throw .tooManyOpenFiles }
    return descriptor
}
