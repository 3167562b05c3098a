internal import Foundation

/// A waiting function with the result to resume it with.
@safe enum Resumption: Sendable {
    case data(UnsafeContinuation<(Data, URLResponse), any Error>, Result<(Data, URLResponse), any Error>)
    case file(UnsafeContinuation<(URL, URLResponse), any Error>, Result<(URL, URLResponse), any Error>)
    case report(TaskReport, TaskOutcome)

    func resume() {
        switch self {
        case .report(let report, let outcome): report.tell(outcome)
        case .data(let waiter, let result): unsafe waiter.resume(with: result)
        case .file(let waiter, let result): unsafe waiter.resume(with: result)
        }
    }
}

extension TaskContinuation {
    /// Returns the resumption with the task's result: an answer, or its error.
    func resumption(_ failure: (any Error)?, _ response: URLResponse?, _ data: Data, _ file: URL?) -> Resumption {
        switch self {
        case .data(let waiter):
            guard let response else { return unsafe .data(waiter, .failure(Self.reason(failure))) }
            return unsafe .data(waiter, .success((data, response)))
        case .file(let waiter):
            guard let response, let file else { return unsafe .file(waiter, .failure(Self.reason(failure))) }
            return unsafe .file(waiter, .success((file, response)))
        }
    }

    /// Returns the error to throw. It is made only for a failure: a `URLError` is two allocations.
    private static func reason(_ failure: (any Error)?) -> any Error {
        failure ?? URLError(.badServerResponse)
    }
}
