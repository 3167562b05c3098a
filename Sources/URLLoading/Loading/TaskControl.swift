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
                switch task.stage {
                case .loading(let load): isHeld ? load.suspend() : load.resume()
                // It may have been cancelled while this letter was on its way.
                case .new: if isRunning, !isHeld { TaskControl.takeUp(task, session, engine).begin() }
                case .over: break
                }
            },
            for: task
        )
    }

    private static func takeUp(_ task: URLSessionTask, _ session: URLSession, _ engine: SessionEngine) -> TaskLoad {
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
                switch task.stage {
                case .loading(let load): how(load)
                // One that never began ends as the others do.
                case .new: how(TaskControl.takeUp(task, session, engine))
                case .over: otherwise()
                }
            },
            for: task
        )
        if !isSent { otherwise() }
    }
}
