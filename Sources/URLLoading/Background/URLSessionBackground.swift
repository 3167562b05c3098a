internal import Foundation
internal import Synchronization

/// What a background session does at its beginning, and when all has been told.
extension URLSession {
    var background: BackgroundSession? { parts.background }

    /// The tasks that an earlier process of a background session has left go on where they were.
    func restoreTasks() {
        guard let background else { return }
        let restored = background.tasks(for: self)
        let damaged = background.damagedTasks(for: self)
        state.withLock { state in
            for (task, record) in restored { state.takeIn(task, as: record.number) }
            for (task, _) in damaged { state.takeIn(task, as: task.taskIdentifier) }
            state.nextIdentifier = background.lastNumber + 1
        }
        for (task, record) in restored {
            switch record.state {
            case .suspended: break
            case .running: task.resume()
            case .finished: BackgroundRestoration.tell(record, task, self)
            }
        }
        for (task, failure) in damaged { BackgroundRestoration.tell(failure, of: task, self) }
    }

    /// The ends of a background session's tasks that have not been heard in this process are told once more: a delegate listens by now.
    package func tellUnheard() {
        guard let background, state.withLock({ $0.life }) == .open else { return }
        let tasks = background.unheardTasks(for: self)
        state.withLock { state in
            for (task, record) in tasks { state.takeIn(task, as: record.number) }
        }
        for (task, record) in tasks { BackgroundRestoration.tell(record, task, self) }
    }

    /// A download that was finished, and is not on disk as it was, is loaded once more.
    func reopen(_ task: URLSessionTask) {
        background?.reopen(task.taskIdentifier)
        post({ engine, session, task in TaskControl.reopen(task, session, engine) }, for: task)
    }

    func tellFinishedEvents() {
        guard let delegate else { return }
        delegateQueue.addOperation { delegate.urlSessionDidFinishEvents(forBackgroundURLSession: self) }
    }
}
