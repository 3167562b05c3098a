internal import Foundation
internal import Synchronization
internal import UncurlEngine

extension StreamLoad {
    /// Whether no task has asked for the connection on which HTTP has ended.
    var isUntaken: Bool { if case .held = state { true } else { false } }
}

/// Receives what the connection reports.
extension StreamLoad: UpgradedConnectionDelegate {
    func connection(_ connection: UpgradedConnection, didReceive bytes: Span<UInt8>) {
        count(received: bytes.count)
        receive(bytes)
    }

    func connection(_ connection: UpgradedConnection, didSend count: Int) {
        self.count(sent: count)
        guard let first = writes.first, let left = first.left else { return }
        guard left <= count else {
            writes[0].left = left - count
            return
        }
        writes.removeFirst()
        first.limit?.cancel()
        answer(first.reply, .success(()))
        advance()
    }

    func connectionDidFinishReading(_ connection: UpgradedConnection) { readingEnded() }

    func connection(_ connection: UpgradedConnection, didClose error: EngineError?) {
        if let error {
            delegate?.end(ErrorTranslation.error(error, nil))
        } else {
            state = .closed
            readingEnded()
        }
    }

    private func count(sent: Int = 0, received: Int = 0) {
        delegate?.task.snapshot.withLock { snapshot in
            snapshot.counts.sent += Int64(sent)
            snapshot.counts.received += Int64(received)
        }
    }
}
