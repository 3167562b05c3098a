internal import CLinux

/// What this room asks the kernel and the C library for, by kind: the border at which a ``FaultPlan`` stands.
///
/// Not in the list, because they cannot fail on descriptors of ours: `close`, EPOLL_CTL_DEL, and the write to an
/// eventfd (EAGAIN means that it is signalled already; losing a wake-up is something no kernel does).
public enum SystemCall: Hashable, Sendable, CaseIterable {
    /// Calls about sockets.
    case socket, setsockopt, getsockopt, getsockname, bind, listen, connect, accept
    /// Calls that move bytes through sockets.
    case send, receive, peek, sendFile
    /// Calls about files.
    case openFile, fileStatus, readFile, writeFile
    /// Calls of a loop's own.
    case epollAdd, epollModify, epollWait
    /// Asked on the loop, answered on a thread of the resolver: made to fail, it is never asked.
    case lookup
    /// The start of a thread.
    case thread
}

/// What a plan wants this call to meet instead of the kernel; nil goes on to the kernel. In release builds always nil,
/// and nothing of the question is left.
@inline(__always)
func injectedFault(_ kind: SystemCall, on descriptor: CInt? = nil) -> Errno? {
    #if DEBUG
    FaultPlan.current?.strike(kind, on: descriptor)
    #else
    nil
    #endif
}

/// How many bytes of so many a call may move.
@inline(__always)
func allowance(_ count: Int) -> Int {
    #if DEBUG
    min(count, FaultPlan.current?.maximumBytes ?? count)
    #else
    count
    #endif
}

/// Runs a call that returns -1 on failure, again for as long as a signal interrupts it.
@inline(__always)
func retryingInterrupts<Result: SignedInteger>(
    _ kind: SystemCall? = nil,
    on descriptor: CInt? = nil,
    _ call: () -> Result
) throws(Errno) -> Result {
    while true {
        let error: Errno
        if let kind, let fault = injectedFault(kind, on: descriptor) {
            error = fault
        } else {
            let result = call()
            if result != -1 { return result }
            error = Errno.last
        }
        if error != .interrupted { throw error }
    }
}

/// The same for a call that may have to wait: nil where it would block.
@inline(__always)
func retryingInterruptsOrBlocking(
    _ kind: SystemCall,
    on descriptor: CInt,
    _ call: () -> Int
) throws(Errno) -> Int? {
    do throws(Errno) {
        return try retryingInterrupts(kind, on: descriptor, call)
    } catch .wouldBlock {
        return nil
    }
}

/// Runs a call that must not be repeated after a signal (`close`, `connect`).
@inline(__always)
func callingOnce(_ kind: SystemCall? = nil, _ call: () -> CInt) throws(Errno) -> CInt {
    if let kind, let fault = injectedFault(kind) { throw fault }
    let result = call()
    if result == -1 { throw Errno.last }
    return result
}
