internal import CLinux
internal import Glibc

/// The main thread's sleep: until a worker wakes it, the user interrupts, or time is up.
///
/// The first SIGINT, SIGTERM or SIGHUP is taken in turn with the wake-ups, so no handler ever runs in the middle of
/// anything; the second ends the program at once. The loops' threads block all signals.
package struct SignalWait {
    package enum Event { case woken, interrupted, timeOut }

    /// The signal that wakes. Like the others it stays pending if it comes before the wait.
    private static let wakeUp = SIGUSR1

    /// The signals that end the run. A hang-up does too, unless volley was started to ignore it (nohup).
    private static let interrupts = [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP])

    private var signals = sigset_t()
    private var wasInterrupted = false

    /// Blocks the signals on the calling thread. Call it on the main thread, before any other thread starts.
    package init() {
        unsafe sigemptyset(&signals)
        for signal in Self.interrupts + [Self.wakeUp] { _ = unsafe sigaddset(&signals, signal) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    package mutating func wait(nanoseconds: UInt64) -> Event {
        var limit = timespec(
            tv_sec: Int(clamping: nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000)
        )
        switch unsafe sigtimedwait(&signals, nil, &limit) {
        case SIGINT, SIGTERM, SIGHUP:
            wasInterrupted = true
            // A shell has its background jobs ignore SIGINT; the wait took the first all the same, so the next counts
            // too.
            for number in Self.interrupts { _ = signal(number, SIG_DFL) }
            Self.unblock()
            return .interrupted
        case Self.wakeUp: return .woken
        default: return .timeOut
        }
    }

    /// The run is over, and its reports are written: a first signal does not keep them from that, one more ends the
    /// program.
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
