package import Foundation
internal import Synchronization

/// A task whose end is told once, with all there is to tell: what the room above makes its own tasks of.
package struct TaskReport: Sendable {
    /// What becomes of the answer's content.
    package enum Keeping: Sendable {
        case memory
        case file
        /// The delegate takes it, piece by piece.
        case nothing
    }

    /// What is told of the end: on the session's loop, or on its delegate queue where something was told there before.
    @safe package enum Receiver: Sendable {
        case handler(@Sendable (TaskOutcome) -> Void)
        /// The function that has made the task, and waits for it.
        case waiter(UnsafeContinuation<TaskOutcome, Never>)
    }

    /// What the task's load has to know of it.
    struct Terms: Sendable {
        let keeping: Keeping
        let collectsMetrics: Bool
    }

    let terms: Terms
    private let receiver: Receiver

    package init(_ keeping: Keeping, collectsMetrics: Bool = false, to receiver: Receiver) {
        terms = Terms(keeping: keeping, collectsMetrics: collectsMetrics)
        self.receiver = receiver
    }

    var wakesWaiter: Bool {
        switch receiver {
        case .handler: false
        case .waiter: true
        }
    }

    /// Once.
    func tell(_ outcome: TaskOutcome) {
        switch receiver {
        case .handler(let call): call(outcome)
        case .waiter(let waiter): unsafe waiter.resume(returning: outcome)
        }
    }
}

/// What a task came to.
package struct TaskOutcome: Sendable {
    /// The one that ended: another than the one that began, if its answer became a download.
    package let task: URLSessionTask
    package let response: URLResponse?
    /// What was kept in memory; of a failed task what had come.
    package let data: Data
    /// The receiver's, to move or to delete; none for a task that failed.
    package let file: URL?
    package let error: URLError?
    package let metrics: URLSessionTaskMetrics?
    /// Of a background session's task: to be called once, when all of this has been taken (true), or when it has not
    /// been and is to be told again (false). The session keeps it on disk until then.
    package let settle: (@Sendable (_ wasTaken: Bool) -> Void)?

    package init(
        task: URLSessionTask,
        response: URLResponse?,
        data: Data,
        file: URL?,
        error: URLError?,
        metrics: URLSessionTaskMetrics?,
        settle: (@Sendable (_ wasTaken: Bool) -> Void)? = nil
    ) {
        self.task = task
        self.response = response
        self.data = data
        self.file = file
        self.error = error
        self.metrics = metrics
        self.settle = settle
    }
}

extension URLSessionTask {
    /// False: its session was closed when it was made. It is no task of that session's, and fails when it is resumed.
    package var isOfOpenSession: Bool { isTakenIn }
}
