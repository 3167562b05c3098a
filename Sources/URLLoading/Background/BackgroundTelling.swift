internal import Foundation
internal import Synchronization

/// What a background session does when it begins, and with ends that no delegate method has received.
extension BackgroundSession: TaskKeeper {
    func restore(into session: URLSession) {
        let restored = tasks(for: session)
        let damaged = damagedTasks(for: session)
        session.state.withLock { state in
            for (task, record) in restored { state.takeIn(task, as: record.number) }
            for (task, _) in damaged { state.takeIn(task, as: task.taskIdentifier) }
            state.nextIdentifier = lastNumber + 1
        }
        let watcher = session.delegate as? any TaskWatcher
        for (task, record) in restored {
            task.snapshot.withLock { $0.watcher = watcher }
            switch record.state {
            case .suspended: break
            case .running: task.resume()
            case .finished: BackgroundRestoration.tell(record, task, session)
            }
        }
        for (task, failure) in damaged { BackgroundRestoration.tell(failure, of: task, session) }
    }

    func tellUnheard(of session: URLSession) {
        guard session.state.withLock({ $0.life }) == .open else { return }
        let tasks = unheardTasks(for: session)
        session.state.withLock { state in
            for (task, record) in tasks { state.takeIn(task, as: record.number) }
        }
        for (task, record) in tasks { BackgroundRestoration.tell(record, task, session) }
    }
}
