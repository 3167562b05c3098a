internal import Foundation

/// A function that waits for its task's end.
@safe enum TaskContinuation: Sendable {
    case data(UnsafeContinuation<(Data, URLResponse), any Error>)
    case file(UnsafeContinuation<(URL, URLResponse), any Error>)

    /// With what the task came to: an answer, and nil or its error.
    func resumption(_ failure: (any Error)?, _ response: URLResponse?, _ data: Data, _ file: URL?) -> Resumption {
        let failure = failure ?? URLError(.badServerResponse)
        switch self {
        case .data(let waiter):
            return unsafe .data(waiter, response.map { .success((data, $0)) } ?? .failure(failure))
        case .file(let waiter):
            guard let response, let file else { return unsafe .file(waiter, .failure(failure)) }
            return unsafe .file(waiter, .success((file, response)))
        }
    }
}

/// A function that need not wait any longer.
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
