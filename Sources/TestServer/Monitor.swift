internal import Glibc
internal import Reactor

/// A value, the lock that guards it, and a way to sleep until it is as wanted: what a test's thread waits with.
///
/// `Synchronization.Mutex` has no condition variable, and a test must wait for a fact, never for a time.
@safe final class Monitor<Value>: @unchecked Sendable {
    // `@unchecked`: `value` is touched between lock and unlock only; the two addresses never change.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        _ = unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        _ = unsafe pthread_condattr_init(&attributes)
        // A wall clock that is set meanwhile must not stretch a limit.
        _ = unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        _ = unsafe pthread_cond_init(changed, &attributes)
        _ = unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        _ = unsafe pthread_cond_destroy(changed)
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    func read<Result>(_ body: (Value) -> Result) -> Result {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        return body(value)
    }

    /// Changes the value and wakes whoever waits for it.
    func update<Result>(_ body: (inout Value) -> Result) -> Result {
        _ = unsafe pthread_mutex_lock(mutex)
        defer {
            _ = unsafe pthread_cond_broadcast(changed)
            _ = unsafe pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// Sleeps until `body` gives something, looking again after each update. Nil when `limit` has run out.
    func wait<Result>(within limit: Duration, _ body: (inout Value) -> Result?) -> Result? {
        let deadline = Instant.current().advanced(by: limit).nanoseconds
        var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            guard unsafe pthread_cond_timedwait(changed, mutex, &time) == 0 else { return body(&value) }
        }
    }
}
