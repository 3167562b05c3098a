internal import CLinux
internal import Glibc

/// The main thread's sleep: until a worker wakes it, the user interrupts, or time is up.
///
/// SIGINT and SIGTERM are taken in turn with the wake-ups, so no handler ever runs in the middle of anything.
/// The loops' threads block all signals.
struct SignalWait {
    enum Event { case woken, interrupted, timeOut }

    /// SIGUSR1 wakes: like the others it stays pending if it comes before the wait.
    private static let wakeUp = SIGUSR1

    private var signals = sigset_t()

    /// Blocks the signals on the calling thread, which is to be the main one, before any other thread starts.
    init() {
        unsafe sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, Self.wakeUp] { _ = unsafe sigaddset(&signals, signal) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    mutating func wait(nanoseconds: UInt64) -> Event {
        var limit = timespec(
            tv_sec: Int(clamping: nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000)
        )
        switch unsafe sigtimedwait(&signals, nil, &limit) {
        case SIGINT, SIGTERM: return .interrupted
        case Self.wakeUp: return .woken
        default: return .timeOut
        }
    }

    /// Any thread.
    static func wake() { kill(getpid(), wakeUp) }
}
