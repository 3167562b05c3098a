internal import Foundation
internal import HTTPEngine
internal import Reactor
internal import Synchronization

/// A session's way to its loop.
extension URLSession {
    var credentialStorage: URLCredentialStorage? { parts.settings.credentials }

    /// A task that may be waiting for this server, and the delegate to ask for it: the first by number, of those that run if there are any.
    func task(waitingFor origin: Origin) -> (task: URLSessionTask, delegate: any URLSessionTaskDelegate)? {
        let general = delegates.task
        let waiting = current.filter { task in
            if let stream = task as? URLSessionStreamTask { return stream.place?.isPlace(of: origin) == true }
            guard let url = task.currentRequest?.url, let place = try? URLText.http(url) else { return false }
            return place.origin == origin && task.response == nil
        }
        let asked = waiting.compactMap { task in (task.delegate ?? general).map { (task: task, delegate: $0) } }
        return asked.first { $0.task.state == .running } ?? asked.first
    }

    var executor: LoopExecutor? { try? parts.home.get().loop.executor }

    /// Whether the caller runs on the session's loop.
    var isOnLoop: Bool {
        if case .success(let home) = parts.home { home.loop.isCurrent } else { false }
    }

    /// False where there is no loop: `call` will not run.
    @discardableResult
    func post(_ call: @escaping @Sendable (SessionEngine) -> Void) -> Bool {
        guard case .success(let home) = parts.home else { return false }
        return home.loop.post { call(home.value) }
    }

    /// The same for a task: one that cannot be loaded at all ends here.
    @discardableResult
    func post(
        _ call: @escaping @Sendable (SessionEngine, URLSession, URLSessionTask) -> Void,
        for task: URLSessionTask
    ) -> Bool {
        guard task.isTakenIn else {
            fail(task, "the session has been invalidated")
            return false
        }
        switch parts.home {
        case .success(let home) where home.loop.isCurrent:
            call(home.value, self, task)
            return true
        case .success(let home): return home.loop.post { call(home.value, self, task) }
        case .failure(let error):
            fail(task, "no event loop can be had: \(error)")
            return false
        }
    }

    private func fail(_ task: URLSessionTask, _ reason: String) {
        let failure = ErrorTranslation.urlError(.unknown, task.currentRequest?.url, reason)
        let cancellation = CompletionReport.cancellation(of: task)
        let error = task.snapshot.withLock { snapshot -> URLError? in
            guard snapshot.state != .completed else { return nil }
            let error = snapshot.fate == .cancelled ? cancellation : failure
            // A thread that sees that it is over sees why.
            (snapshot.state, snapshot.error) = (.completed, error)
            return error
        }
        guard let error else { return }
        CompletionReport(task: task, session: self, failure: error, response: nil).tell(by: CallbackQueue())
    }
}
