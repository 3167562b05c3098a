internal import Foundation
internal import HTTPEngine
internal import Reactor
internal import Synchronization

/// A task's way to its load on the session's loop; any thread.
struct TaskControl: Sendable {
    let task: URLSessionTask
    let session: URLSession

    /// The first `resume()` begins the load, later ones go on with it.
    func resume() {
        session.background?.note(task, .running)
        session.post(
            { engine, session, task in
                if let load = engine.load(of: task) { return load.resume() }
                // It may have been cancelled, or have ended, while this letter was on its way.
                guard task.isUnfinished else { return }
                let load = TaskLoad(task, session, engine)
                engine.add(load)
                load.begin()
            },
            for: task
        )
    }

    func suspend() {
        session.background?.note(task, .suspended)
        session.post({ engine, _, task in engine.load(of: task)?.suspend() }, for: task)
    }

    func cancel() { cancel { $0.cancel() } }

    /// - Parameter how: called on the loop, if the task has not ended by then.
    func cancel(_ how: @escaping @Sendable (TaskLoad) -> Void) {
        let isFirst = task.snapshot.withLock { snapshot in
            guard snapshot.state == .running || snapshot.state == .suspended else { return false }
            snapshot.state = .canceling
            return true
        }
        guard isFirst else { return }
        session.post(
            { engine, session, task in
                if let load = engine.load(of: task) { return how(load) }
                guard task.isUnfinished else { return }
                // Never begun: it ends as the others do.
                let load = TaskLoad(task, session, engine)
                engine.add(load)
                how(load)
            },
            for: task
        )
    }
}

extension URLSessionTask {
    var isUnfinished: Bool { state != .completed }
}
