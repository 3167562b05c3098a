internal import Foundation
internal import HTTPEngine

/// The end as the load sees it: metrics first, then what the task came to.
extension TaskLoad {
    func tellEnd(_ failure: URLError?, since started: Date?) {
        if let started, wantsMetrics, captured == nil { tellMetrics(since: started) }
        let failure = failure.map(withResumeData)
        var ending = TaskEnding(task: task, session: session, failure: failure, response: task.response ?? response)
        switch sink {
        case .memory(let data): ending.data = data
        case .file(let file):
            file.finish(keeping: failure == nil)
            if failure == nil { ending.file = file }
        case .none, .delegate, .bytes, .stream: break
        }
        sink = .none
        ending.streams = captured.take()
        ending.tell(by: callbacks)
    }

    private func tellMetrics(since started: Date) {
        let interval = DateInterval(start: started, end: max(started, Date()))
        let metrics = URLSessionTaskMetrics(transactions, interval, redirects: redirects)
        tell { session, task, delegate in
            delegate.urlSession(session, task: task, didFinishCollecting: metrics)
        }
    }
}
