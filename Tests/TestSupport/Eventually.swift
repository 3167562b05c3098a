import Dispatch

/// For what another thread does in its own time and signals to nothing.
public enum Eventually {
    /// Asks until it holds, for a minute at most. Keeps its thread.
    public static func holds(_ condition: () throws -> Bool) rethrows -> Bool {
        let limit = ContinuousClock.now + .seconds(60)
        while try !condition() {
            if ContinuousClock.now > limit { return false }
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
        }
        return true
    }
}

/// Waits until the condition holds, and leaves the processor to what makes it so. A test's own time limit ends it.
public func until(_ condition: () async throws -> Bool) async rethrows {
    while try await !condition() {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { continuation.resume() }
        }
    }
}
