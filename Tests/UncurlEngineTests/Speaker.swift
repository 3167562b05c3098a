import Synchronization
import TestSupport
import UncurlEngine

/// Talks on an upgraded connection, and tells the test's thread what it hears.
final class Speaker: UpgradedConnectionDelegate, Sendable {
    struct Heard {
        var bytes: [UInt8] = []
        var sent = 0
        var finished = 0
        /// Outcomes, nil for an end in order.
        var closed: [EngineError?] = []
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private let state = Mutex(Heard())
    let received = Counter()
    let sent = Counter()
    let ends = Counter()
    /// Of these, the last.
    let closes = Counter()
    private let onReceive: @Sendable (UpgradedConnection, [UInt8]) -> Void
    private let onFinish: @Sendable (UpgradedConnection) -> Void

    init(
        onReceive: @escaping @Sendable (UpgradedConnection, [UInt8]) -> Void = { _, _ in },
        onFinish: @escaping @Sendable (UpgradedConnection) -> Void = { _ in }
    ) {
        self.onReceive = onReceive
        self.onFinish = onFinish
    }

    var heard: Heard { state.withLock { $0 } }

    func connection(_ connection: UpgradedConnection, didReceive bytes: Span<UInt8>) {
        let copy = bytes.indices.map { bytes[$0] }
        state.withLock { $0.bytes += copy }
        onReceive(connection, copy)
        received.add(copy.count)
    }

    func connection(_ connection: UpgradedConnection, didSend count: Int) {
        state.withLock { $0.sent += count }
        sent.add(count)
    }

    func connectionDidFinishReading(_ connection: UpgradedConnection) {
        state.withLock { $0.finished += 1 }
        onFinish(connection)
        ends.add()
    }

    func connection(_ connection: UpgradedConnection, didClose error: EngineError?) {
        state.withLock { $0.closed.append(error) }
        closes.add()
        ends.add()
    }
}
