internal import CUncurlLinux
internal import UncurlLibC

/// The main thread's sleep: until another thread wakes it, the user interrupts, or time is up.
///
/// ``wait(nanoseconds:)`` takes the first SIGINT, SIGTERM or SIGHUP as it takes wake-ups, so no handler interrupts the
/// program's code. The second such signal ends the program at once. The loops' threads block all signals.
package struct SignalWait {
    /// The signal that wakes. Like the others it stays pending if it comes before the wait.
    private static let wakeUp = SIGUSR1

    /// The signals that end the run. SIGHUP is one of them unless volley was started to ignore it (nohup).
    private static let interrupts = [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP])

    private var signals = sigset_t()
    private var wasInterrupted = false

    /// Blocks the signals on the calling thread. Call it on the main thread, before any other thread starts.
    package init() {
        unsafe sigemptyset(&signals)
        for signal in Self.interrupts + [Self.wakeUp] { _ = unsafe sigaddset(&signals, signal) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    package mutating func wait(nanoseconds: UInt64) -> Bool {
        var limit = timespec(
            tv_sec: Int(clamping: nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000)
        )
        switch unsafe sigtimedwait(&signals, nil, &limit) {
        case SIGINT, SIGTERM, SIGHUP:
            wasInterrupted = true
            // A shell has its background jobs ignore SIGINT. The wait took the first one even so, and the next one must
            // end the program too.
            for number in Self.interrupts { _ = signal(number, SIG_DFL) }
            Self.unblock()
            return true
        default: return false
        }
    }

    /// Called when the run is over and its reports are being written. A first signal has no effect then, and a second
    /// one ends the program.
    package mutating func finish() {
        guard !wasInterrupted else { return }
        wasInterrupted = true
        for number in Self.interrupts { _ = signal(number) { _ = signal($0, SIG_DFL) } }
        Self.unblock()
    }

    private static func isIgnored(_ number: CInt) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func unblock() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in interrupts { _ = unsafe sigaddset(&set, number) }
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Wakes the main thread. Any thread may call it.
    package static func wake() { kill(getpid(), wakeUp) }
}
