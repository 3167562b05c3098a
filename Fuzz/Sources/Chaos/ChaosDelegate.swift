import Foundation
import Synchronization
import Uncurl

/// A session's delegate. It follows each task to its one end. Within its callbacks it begins and cancels tasks.
final class ChaosDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionWebSocketDelegate,
    @unchecked Sendable
{
    private struct Followed {
        let id: Int
        let errand: Errand?
        var content = Data()
        var dice: Dice
    }

    private struct State {
        var tasks: [Int: Followed] = [:]
        var reentry: (@Sendable (inout Dice) -> Void)?
    }

    private unowned let round: Round
    private let ledger: Ledger
    private let isSlow: Bool
    private let state = Mutex(State())

    init(_ round: Round, group: Int, isSlow: Bool) {
        (self.round, self.isSlow) = (round, isSlow)
        ledger = round.ledger
    }

    /// Begins another task. Nil once the session is invalidated.
    var reentry: (@Sendable (inout Dice) -> Void)? {
        get { state.withLock { $0.reentry } }
        set { state.withLock { $0.reentry = newValue } }
    }

    /// Follows a task to its end. The errand is nil if the task's content proves nothing.
    func follow(_ task: URLSessionTask, _ id: Int, _ errand: Errand?) {
        let dice = round.dice()
        state.withLock { $0.tasks[task.taskIdentifier] = Followed(id: id, errand: errand, dice: dice) }
    }

    /// Does by chance what a program may do in a callback: begins a task, cancels, suspends, or blocks for a moment.
    private func meddle(_ task: URLSessionTask) {
        guard var followed = state.withLock({ $0.tasks[task.taskIdentifier] }) else { return }
        let choice = followed.dice.below(100)
        state.withLock { $0.tasks[task.taskIdentifier]?.dice = followed.dice }
        switch choice {
        case 0...3: if ledger.underWay < round.orders.tasks * 2 { reentry?(&followed.dice) }
        case 4, 5:
            ledger.cancels(followed.id)
            task.cancel()
        case 6, 7:
            task.suspend()
            task.resume()
        case 8...14: if isSlow { usleep(UInt32(followed.dice.below(8_000))) }
        default: break
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        meddle(task)
        guard let followed = state.withLock({ $0.tasks.removeValue(forKey: task.taskIdentifier) }) else {
            return ledger.complain("a task that is unknown or has ended completes: \(task)")
        }
        let status = (task.response as? HTTPURLResponse)?.statusCode
        let isFetched = task is URLSessionDataTask || task is URLSessionDownloadTask
        let complaint = isFetched ? followed.errand?.complaint(status, followed.content) : nil
        ledger.end(followed.id, error, complaint)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.tasks[dataTask.taskIdentifier]?.content.append(data) }
        meddle(dataTask)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        meddle(dataTask)
        completionHandler(.allow)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        meddle(downloadTask)
        // Without descriptors the file cannot be read. Then the task's content proves nothing.
        guard let data = try? Data(ofFile: location) else {
            return state.withLock { state in
                guard let old = state.tasks[downloadTask.taskIdentifier] else { return }
                state.tasks[downloadTask.taskIdentifier] = Followed(id: old.id, errand: nil, dice: old.dice)
            }
        }
        state.withLock { $0.tasks[downloadTask.taskIdentifier]?.content = data }
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = challenge.protectionSpace.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) { meddle(webSocketTask) }
}
