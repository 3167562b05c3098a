package import Foundation
package import FoundationEssentials
internal import Synchronization

/// How a task's end is reported in one call, with everything about it. Uncurl makes its tasks with such a report.
package struct TaskReport: Sendable {
    /// Where the answer's content is kept.
    package enum Keeping: Sendable {
        case memory
        case file
        /// The content is not kept: the delegate takes it, piece by piece. The cache may store it nevertheless.
        case nothing(isStorable: Bool)
    }

    /// What is called at the end: on the session's loop, or on its delegate queue if something was reported there
    /// before.
    @safe package enum Receiver: Sendable {
        case handler(@Sendable (TaskOutcome) -> Void)
        /// The function that has made the task and waits for it.
        case waiter(UnsafeContinuation<TaskOutcome, Never>)
    }

    /// What the task's load has to know of the report.
    struct Terms: Sendable {
        let keeping: Keeping
        let collectsMetrics: Bool
        /// Whether a function waits for the end. It resumes its task itself.
        let isAwaited: Bool
    }

    let terms: Terms
    private let receiver: Receiver

    package init(_ keeping: Keeping, collectsMetrics: Bool = false, to receiver: Receiver) {
        let isAwaited =
            switch receiver {
            case .handler: false
            case .waiter: true
            }
        terms = Terms(keeping: keeping, collectsMetrics: collectsMetrics, isAwaited: isAwaited)
        self.receiver = receiver
    }

    var wakesWaiter: Bool { terms.isAwaited }

    /// Tells the receiver. It must be called only once.
    func tell(_ outcome: TaskOutcome) {
        switch receiver {
        case .handler(let call): call(outcome)
        case .waiter(let waiter): unsafe waiter.resume(returning: outcome)
        }
    }
}

/// The result of a task. It is a class, because it is passed on many times.
package final class TaskOutcome: Sendable {
    /// The task that ended. It is not the one that began if the answer became a download.
    package let task: URLSessionTask
    package let response: URLResponse?
    /// The content that was kept in memory; for a failed task, the part that had come.
    package let data: Data
    /// The file, which the receiver may move or delete; nil for a task that failed.
    package let file: URL?
    package let error: URLError?
    package let metrics: URLSessionTaskMetrics?
    /// For a background session's task: the receiver calls this once, with true if it has taken the result, and with
    /// false if the result is to be reported again. Until then the session keeps the result on disk.
    package let settle: (@Sendable (_ wasTaken: Bool) -> Void)?
    /// The receiver ends it when all that follows from the task's end is on the delegate queue.
    package let hold: SessionHold?

    package init(
        task: URLSessionTask,
        response: URLResponse?,
        data: Data,
        file: URL?,
        error: URLError?,
        metrics: URLSessionTaskMetrics?,
        settle: (@Sendable (_ wasTaken: Bool) -> Void)? = nil,
        hold: SessionHold? = nil
    ) {
        self.task = task
        self.response = response
        self.data = data
        self.file = file
        self.error = error
        self.metrics = metrics
        self.settle = settle
        self.hold = hold
    }
}

/// Keeps a session from becoming invalid while the end of one of its tasks is passed on, so that what follows from that
/// end comes first. Any thread.
package final class SessionHold: Sendable {
    /// The session, until it is let go.
    private let session: Mutex<URLSession?>

    package init(_ session: URLSession) {
        self.session = Mutex(session)
        session.state.withLock { $0.holds += 1 }
    }

    /// Lets the session go: all that follows from the task's end is on the delegate queue. A hold that is released does
    /// so too.
    package func end() {
        guard let session = session.withLock({ $0.take() }) else { return }
        let isEnd = session.state.withLock { state in
            state.holds -= 1
            return state.isOver
        }
        if isEnd { session.becomeInvalid() }
    }

    deinit { end() }
}

extension URLSessionTask {
    /// Whether the session was open when the task was made. If not, the session does not have the task, which fails
    /// when it is resumed.
    package var isOfOpenSession: Bool { isTakenIn }
}

/// The functions by which Uncurl makes its tasks.
extension URLSession {
    /// The kind of a task with a report, and the source of its request's content.
    package enum ReportedKind: Sendable {
        case data
        case upload(ContentSource)
        case download(ContentSource)
        case resumedDownload(Data)

        package var content: ContentSource {
            switch self {
            case .data, .resumedDownload: .request
            case .upload(let content), .download(let content): content
            }
        }
    }

    /// Makes a suspended task.
    ///
    /// - Parameters:
    ///   - request: the request; nil takes that of the resume data.
    ///   - delegate: the task's own delegate. It is also told when the task is resumed or suspended.
    package func task(
        _ kind: ReportedKind,
        _ request: URLRequest?,
        delegate: any TaskObserver,
        report: TaskReport
    ) -> URLSessionTask {
        let receiver = TaskSpec.Receiver.report(report)
        let waitsOnLoop = report.wakesWaiter && home.isOnLoop
        // The session tells its delegate of a task when it takes it in: the task has its own delegate by then.
        func made<Made: URLSessionTask>(_ make: (Int) -> Made) -> Made {
            add { number in
                let task = make(number)
                task.listen(by: delegate, waitsOnLoop: waitsOnLoop)
                return task
            }
        }
        return switch kind {
        case .data: made { URLSessionDataTask(self, $0, TaskSpec(request, .request, receiver)) }
        case .upload(let content): made { URLSessionUploadTask(self, $0, TaskSpec(request, content, receiver)) }
        case .download(let content): made { URLSessionDownloadTask(self, $0, TaskSpec(request, content, receiver)) }
        case .resumedDownload(let data):
            made { URLSessionDownloadTask(self, $0, TaskSpec(resumingFrom: data, by: request, in: self, receiver)) }
        }
    }
}

extension URLSessionTask {
    /// Gives a new task its delegate, which also hears when the task is resumed or suspended.
    func listen(by delegate: any TaskObserver, waitsOnLoop: Bool = false) {
        snapshot.withLock { snapshot in
            snapshot.listener = .observer(delegate)
            snapshot.watcher = delegate
            snapshot.waitsOnLoop = waitsOnLoop
        }
    }
}
