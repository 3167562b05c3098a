import Glibc

/// The stand-in for `Synchronization.Mutex` in builds under the thread sanitizer, which does not know that one's futex:
/// the same interface over a lock of pthread's. `tools/chaos SECONDS --thread` puts it into each module.
struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private nonisolated(unsafe) let value: UnsafeMutablePointer<Value>
    private nonisolated(unsafe) let lock: UnsafeMutablePointer<pthread_mutex_t>

    init(_ initialValue: consuming sending Value) {
        unsafe value = .allocate(capacity: 1)
        unsafe value.initialize(to: initialValue)
        unsafe lock = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(lock, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return unsafe try body(&value.pointee)
    }
}
