import Dispatch
import Synchronization

/// Closed until opened: what a test lets a thread wait at.
public final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let state = Mutex(false)

    public init() {}

    public func open() {
        state.withLock { $0 = true }
        semaphore.signal()
    }

    public var isOpen: Bool { state.withLock { $0 } }

    /// False if it stayed closed for so long: the thread goes on, and its test fails by what follows.
    @discardableResult
    public func wait(atMost limit: DispatchTimeInterval = .seconds(120)) -> Bool {
        guard semaphore.wait(timeout: .now() + limit) == .success else { return false }
        // For the next that waits.
        semaphore.signal()
        return true
    }
}
