internal import Synchronization
internal import URLLoading

extension Task where Failure == any Error {
    /// The value of a task that several callers await. A cancelled caller returns at once, and the task continues.
    ///
    /// - Throws: what the task throws, or `CancellationError`.
    func valueUnlessCancelled() async throws -> Success {
        let waiting = Waiting<Success>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.begin(continuation)
                Task<Void, Never> { waiting.end(await result) }
            }
        } onCancel: {
            waiting.end(.failure(_Concurrency.CancellationError()))
        }
    }

    /// The value, if it comes in time. A cancelled caller returns at once, and so does one whose time is over; the task
    /// continues.
    ///
    /// - Parameter words: the description of the error where the time is over.
    /// - Throws: what the task throws, `CancellationError`, or `URLError.timedOut`.
    func value(within limit: Duration?, or words: String) async throws -> Success {
        guard let limit else { return try await valueUnlessCancelled() }
        return try await withThrowingTaskGroup(of: Success.self) { group in
            group.addTask { try await self.valueUnlessCancelled() }
            group.addTask {
                try await Task<Never, Never>.sleep(for: limit.bounded)
                throw URLError(.timedOut, words: words)
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw _Concurrency.CancellationError() }
            return value
        }
    }
}

/// A caller that waits for a result or for another end, whichever comes first.
final class Waiting<Value: Sendable>: Sendable {
    private typealias Outcome = Result<Value, any Error>

    private let state = Mutex<(continuation: CheckedContinuation<Value, any Error>?, result: Outcome?)>((nil, nil))

    var value: Value {
        get async throws { try await withCheckedThrowingContinuation { begin($0) } }
    }

    func begin(_ continuation: CheckedContinuation<Value, any Error>) {
        let result = state.withLock { state in
            if state.result == nil { state.continuation = continuation }
            return state.result
        }
        if let result { continuation.resume(with: result) }
    }

    /// Only the first end counts.
    func end(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            if state.result == nil { state.result = result }
            return state.continuation.take()
        }
        continuation?.resume(with: result)
    }
}
