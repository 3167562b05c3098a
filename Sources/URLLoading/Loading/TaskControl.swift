internal import Foundation
internal import HTTPEngine
internal import Reactor
internal import Synchronization

/// A task's way to its load on the session's loop; any thread.
struct TaskControl: Sendable {
    let task: URLSessionTask
    let session: URLSession

    /// The first `resume()` begins the load, later ones go on with it.
    func resume() { tellFlow() }

    func suspend() { tellFlow() }

    /// The letter says nothing itself: those of two threads may arrive in the other order, so each does what the task is told by then.
    private func tellFlow() {
        session.background?.noteFlow(of: task)
        session.post(
            { engine, session, task in
                let (isHeld, isRunning) = task.snapshot.withLock { ($0.suspensions > 0, $0.state == .running) }
                if let load = engine.load(of: task) { return isHeld ? load.suspend() : load.resume() }
                // It may have been cancelled, or have ended, while this letter was on its way.
                guard isRunning, !isHeld else { return }
                TaskControl.takeUp(task, session, engine)?.begin()
            },
            for: task
        )
    }

    /// Nil for a task that has had its load: its end is on the way, though it may not say so yet.
    private static func takeUp(_ task: URLSessionTask, _ session: URLSession, _ engine: SessionEngine) -> TaskLoad? {
        guard !task.isTakenUp else { return nil }
        task.isTakenUp = true
        let load = TaskLoad(task, session, engine)
        engine.add(load)
        return load
    }

    func cancel() { cancel { $0.cancel() } }

    /// - Parameters:
    ///   - how: called on the loop.
    ///   - otherwise: called instead, on whatever thread, if it is too late to cancel anything.
    func cancel(_ how: @escaping @Sendable (TaskLoad) -> Void, otherwise: @escaping @Sendable () -> Void = {}) {
        let isFirst = task.snapshot.withLock { snapshot in
            guard snapshot.state == .running || snapshot.state == .suspended else { return false }
            snapshot.state = .canceling
            return true
        }
        guard isFirst else { return otherwise() }
        let isSent = session.post(
            { engine, session, task in
                // One that never began ends as the others do.
                guard let load = engine.load(of: task) ?? TaskControl.takeUp(task, session, engine) else {
                    return otherwise()
                }
                how(load)
            },
            for: task
        )
        if !isSent { otherwise() }
    }
}
