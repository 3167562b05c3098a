internal import CLinux

/// Runs a call that returns -1 on failure, again for as long as a signal interrupts it.
@inline(__always)
func retryingInterrupts<Result: SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
    while true {
        let result = call()
        if result != -1 { return result }
        let error = Errno.last
        if error != .interrupted { throw error }
    }
}

/// Runs a call that must not be repeated after a signal (`close`, `connect`).
@inline(__always)
func callingOnce(_ call: () -> CInt) throws(Errno) -> CInt {
    let result = call()
    if result == -1 { throw Errno.last }
    return result
}
