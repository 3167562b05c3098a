internal import CUncurlLinux

/// The calls that this room makes to the kernel and the C library, by kind. A ``FaultPlan`` acts on them.
///
/// Calls that cannot fail on this process's own descriptors are not in the list: `close`, EPOLL_CTL_DEL, and the write
/// to an eventfd (EAGAIN means that it is already signalled; no kernel loses a wake-up).
public enum SystemCall: Hashable, Sendable, CaseIterable {
    /// Calls about sockets.
    case socket, setsockopt, getsockopt, getsockname, bind, listen, connect, accept
    /// Calls that move bytes through sockets.
    case send, receive, peek, sendFile
    /// Calls about files.
    case openFile, fileStatus, readFile, writeFile
    /// Calls of a loop.
    case epollAdd, epollModify, epollWait
    /// A look-up, asked for on the loop and answered on a thread of the resolver. If a plan makes it fail, the resolver
    /// is never called.
    case lookup
    /// The start of a thread.
    case thread
}

/// Returns the fault that a plan has for this call; nil to call the kernel. In release builds it is always nil, and
/// nothing of the check is left.
@inline(__always)
func injectedFault(_ kind: SystemCall, on descriptor: CInt? = nil) -> Errno? {
    #if DEBUG
    FaultPlan.current?.strike(kind, on: descriptor)
    #else
    nil
    #endif
}

/// Returns how many of that many bytes a call may move.
@inline(__always)
func allowance(_ count: Int) -> Int {
    #if DEBUG
    min(count, FaultPlan.current?.maximumBytes ?? count)
    #else
    count
    #endif
}

/// Runs a call that returns -1 on failure, and again for as long as a signal interrupts it.
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

/// Does the same for a call that may have to wait; nil if it would block.
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
