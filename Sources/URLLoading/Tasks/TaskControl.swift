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

    /// The message says nothing itself: the messages of two threads may arrive in the other order, so each does what the task says by then.
    private func tellFlow() {
        session.background?.noteFlow(of: task)
        session.post(
            { engine, session, task in
                let (isHeld, isRunning) = task.snapshot.withLock { ($0.suspensions > 0, $0.state == .running) }
                switch task.stage {
                case .loading(let load): isHeld ? load.suspend() : load.resume()
                // It may have been cancelled while this message was on its way.
                case .new: if isRunning, !isHeld { TaskControl.takeUp(task, session, engine).begin() }
                case .passed, .over: break
                }
            },
            for: task
        )
    }

    private static func takeUp(_ task: URLSessionTask, _ session: URLSession, _ engine: SessionEngine) -> TaskLoader {
        let load = TaskLoader(task, session, engine)
        engine.add(load)
        return load
    }

    /// A restored task that was taken for one that is over begins.
    static func reopen(_ task: URLSessionTask, _ session: URLSession, _ engine: SessionEngine) {
        task.stage = .new
        let isCancelled = task.snapshot.withLock { snapshot in
            guard snapshot.fate == .open else { return true }
            (snapshot.state, snapshot.suspensions, snapshot.response) = (.running, 0, nil)
            return false
        }
        let load = takeUp(task, session, engine)
        if isCancelled { load.cancel() } else { load.begin() }
    }

    func cancel() { cancel { $0.cancel() } }

    /// - Parameters:
    ///   - fate: `open` where the load decides how the task ends, as after a WebSocket's closing handshake.
    ///   - handler: of the download: called on the delegate queue, before the end is told.
    ///   - how: called on the loop.
    /// - Returns: false if it is too late to cancel anything.
    @discardableResult
    func cancel(
        as fate: TaskSnapshot.Fate = .cancelled,
        handingOver handler: (@Sendable (Data?) -> Void)? = nil,
        _ how: @escaping @Sendable (TaskLoader) -> Void
    ) -> Bool {
        let isFirst = task.snapshot.withLock { snapshot in
            guard snapshot.state == .running || snapshot.state == .suspended, snapshot.fate == .open else {
                return false
            }
            (snapshot.state, snapshot.fate, snapshot.resumeDataHandler) = (.canceling, fate, handler)
            return true
        }
        if isFirst { session.post({ TaskControl.carryOut(how, $2, $1, $0) }, for: task) }
        return isFirst
    }

    private static func carryOut(
        _ how: @Sendable (TaskLoader) -> Void,
        _ task: URLSessionTask,
        _ session: URLSession,
        _ engine: SessionEngine
    ) {
        switch task.stage {
        case .loading(let load): how(load)
        // One that never began ends as the others do.
        case .new: how(takeUp(task, session, engine))
        case .passed(let other):
            task.passFate(to: other)
            carryOut(how, other, session, engine)
        // Its end is on the way, and says how the task was cancelled.
        case .over: break
        }
    }
}

extension URLSessionTask {
    var isCancelled: Bool { snapshot.withLock { $0.fate == .cancelled } }

    /// To cancel this task is to cancel the other, which goes on in its place.
    func passFate(to other: URLSessionTask) {
        guard isCancelled else { return }
        other.snapshot.withLock { snapshot in
            if snapshot.fate == .open { (snapshot.state, snapshot.fate) = (.canceling, .cancelled) }
        }
    }

    /// It has become another task, which goes on in its place: nothing more is told of this one.
    func retire(for other: URLSessionTask) {
        passFate(to: other)
        state = .completed
        letGo()
    }
}
