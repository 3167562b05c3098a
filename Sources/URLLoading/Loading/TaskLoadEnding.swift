internal import Foundation
internal import HTTPEngine

/// The end as the load sees it: metrics first, then what the task came to.
extension TaskLoad {
    func tellEnd(_ failure: (any Error)?, since started: Date?) {
        let metrics = started.map(collectMetrics)
        if let metrics, captured == nil {
            tell(.metrics, afterCancel: true) { session, task, delegate in
                delegate.urlSession(session, task: task, didFinishCollecting: metrics)
            }
        }
        let failure = failure.map { error in (error as? URLError).map(withResumeData) ?? error }
        var ending = TaskEnding(task: task, session: session, failure: failure, response: task.response ?? response)
        switch sink {
        case .memory(let data): ending.data = data
        case .file(let file):
            file.finish(keeping: failure == nil)
            if failure == nil { ending.file = file }
        // An answer that broke off ends its exchange, not its reader: what that waits for goes back to be failed.
        case .stream(let stream): stream.stop()
        case .none, .delegate, .bytes: break
        }
        sink = .none
        ending.streams = captured.take()
        ending.metrics = metrics
        ending.isOrdered = hasTold
        if let background { return background.finish(ending, by: callbacks) }
        // The only one has nobody to wait for.
        ending.tell(by: callbacks, together: engine.loads.count > 1 ? engine.wakeUps : nil)
    }

    private func collectMetrics(since started: Date) -> URLSessionTaskMetrics {
        let interval = DateInterval(start: started, end: max(started, Date()))
        return URLSessionTaskMetrics(transactions, interval, redirects: redirects)
    }
}
