internal import Foundation
internal import UncurlReactor

/// Resumes the functions that wait on other threads, for all answers of a burst at once. Loop-confined.
///
/// Resumed one by one, each would wake a thread that does one task's work and sleeps again: two thread switches a
/// request, a quarter of what a request costs (`./dev bench session`).
final class BatchedResumption {
    private let loop: EventLoop
    private var due: [Resumption] = []

    init(on loop: EventLoop) { self.loop = loop }

    func add(_ resumption: Resumption) {
        due.append(resumption)
        if due.count == 1 { loop.runWhenIdle { [self] in wake() } }
    }

    private func wake() {
        let all = due
        due = []
        // The next burst will be about as large.
        due.reserveCapacity(all.count)
        guard all.count > 1 else {
            for resumption in all { resumption.resume() }
            return
        }
        // One thread of the pool then finds all of them in its queue, and does not sleep until the last is done.
        Task.detached { for resumption in all { resumption.resume() } }
    }
}

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
