import Dispatch

/// Waits until it holds, and leaves the processor to those who make it so.
func until(_ condition: () async throws -> Bool) async rethrows {
    while try await !condition() {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { continuation.resume() }
        }
    }
}
