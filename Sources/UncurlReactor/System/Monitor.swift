internal import CUncurlLinux

/// A lock around one value, with a condition to wait for, which `Mutex` does not have.
///
/// It is for threads that may sleep; a loop's own thread posts instead.
@safe public final class Monitor<State>: @unchecked Sendable {
    // `@unchecked`: `state` is used only while `lock` is held.

    private var state: State
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// Makes a monitor with its first state.
    public init(_ state: sending State) {
        self.state = state
        unsafe lock = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(lock, nil)
        unsafe uncurl_condition_init(condition)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(lock)
        unsafe condition.deallocate()
        unsafe lock.deallocate()
    }

    /// Runs `body` with the state while no other thread has it. `body` must not block, nor use this monitor.
    public func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return body(&state)
    }

    /// Changes the value and wakes the threads that wait for it.
    public func update<Result>(_ body: (inout State) -> Result) -> Result {
        withLock { state in
            defer { broadcast() }
            return body(&state)
        }
    }

    /// Calls `ready` now and after every signal until it returns a value. Returns nil if it has not within `limit`.
    public func wait<Result>(atMost limit: Duration, until ready: (inout State) -> Result?) -> Result? {
        wait(atMost: limit, until: { state in ready(&state).map(Optional.some) }, otherwise: { _ in nil })
    }

    /// Calls `ready` now and after every signal until it returns a value; after `limit` it calls `late` instead,
    /// without releasing the lock in between.
    public func wait<Result>(
        atMost limit: Duration,
        until ready: (inout State) -> Result?,
        otherwise late: (inout State) -> Result
    ) -> Result {
        let deadline = Instant.current().advanced(by: limit)
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while true {
            if let result = ready(&state) { return result }
            guard unsafe uncurl_condition_wait(condition, lock, deadline.nanoseconds) == 0 else { break }
        }
        return ready(&state) ?? late(&state)
    }

    /// Wakes one thread that waits.
    public func signal() { _ = unsafe pthread_cond_signal(condition) }

    /// Wakes all threads that wait.
    public func broadcast() { _ = unsafe pthread_cond_broadcast(condition) }
}
