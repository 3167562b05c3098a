internal import Synchronization

/// How a session comes to its end: it is closed to new tasks, and when nothing of its tasks is left to report, it
/// becomes invalid.
extension URLSession {
    func close(cancelling: Bool) {
        guard self !== URLSession.shared else { return }
        let (tasks, isEnd) = state.withLock { state -> ([URLSessionTask], Bool) in
            guard state.life != .invalid else { return ([], false) }
            state.life = .closing
            return (Array(state.tasks.values), state.isOver)
        }
        if cancelling { for task in tasks { task.cancel() } }
        if isEnd { becomeInvalid() }
    }

    func becomeInvalid() {
        let isFirst = state.withLock { state in
            guard state.life != .invalid else { return false }
            state.life = .invalid
            return true
        }
        guard isFirst else { return }
        home.shutDown()
        delegateQueue.addLasting { [self] in
            keeper?.close()
            delegate?.urlSession(self, didBecomeInvalidWithError: nil)
            let old = state.withLock { state in
                defer { (state.delegate, state.listener) = (nil, nil) }
                return (state.delegate, state.listener)
            }
            home.askNoSession()
            withExtendedLifetime(old) {}
        }
    }
}
