internal import Foundation
internal import HTTPEngine
internal import Reactor

/// How long a task that waits for connectivity waits before it tries again. The kernel tells nobody when a server comes into reach, and
/// a try costs one look-up and one packet.
struct ConnectivityWait {
    private(set) var tries = 0

    /// A quarter of a second, then twice as long each time, up to ten seconds.
    mutating func next() -> Duration {
        defer { tries += 1 }
        return min(.milliseconds(250 << min(tries, 8)), .seconds(10))
    }
}

extension TaskLoad {
    /// True if the task waits for a way to its server instead of failing (`waitsForConnectivity`).
    func isWaiting(after error: EngineError) -> Bool {
        guard engine.settings.waitsForConnectivity, response == nil, error.isWithoutConnectivity else { return false }
        if connectivity.tries == 0 {
            tell(.connectivity) { session, task, delegate in
                delegate.urlSession(session, taskIsWaitingForConnectivity: task)
            }
        }
        let again = engine.loop.now.advanced(by: connectivity.next())
        let timer = engine.loop.arm(
            at: again,
            Alarm { [weak self] in
                guard let self, case .starting = phase else { return }
                phase = .starting(nil)
                // Nothing of its content has been read: a stream serves once more.
                transact()
            }
        )
        phase = .starting(timer)
        return true
    }
}

extension EngineError {
    /// There is no way to the server now, by the kernel's or the name service's word, and there may be one later. A server that refuses
    /// was reached.
    fileprivate var isWithoutConnectivity: Bool {
        guard case .connect(let error) = self else { return false }
        guard !error.attempts.isEmpty else { return true }
        return error.attempts.allSatisfy { $0.errno == .networkUnreachable || $0.errno == .hostUnreachable }
    }
}
