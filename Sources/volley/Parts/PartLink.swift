import Glibc
import UncurlLoad
import UncurlReactor

/// Sends and receives messages through two descriptors, one line each. The lock guards `state`.
final class PartLink: Sendable {
    private struct State {
        var messages: [PartMessage] = []
        var isClosed = false
    }

    private let input: CInt
    private let output: CInt
    private let state = Monitor(State())

    /// - Parameters:
    ///   - input: the descriptor of received messages.
    ///   - output: the descriptor of sent messages.
    init(input: CInt, output: CInt) {
        (self.input, self.output) = (input, output)
    }

    /// - Returns: false if the part no longer reads.
    @discardableResult
    func send(_ message: PartMessage) -> Bool { (try? BlockingOutput.writeAll(message.line, to: output)) != nil }

    /// Closes both descriptors.
    func close() {
        _ = Glibc.close(input)
        _ = Glibc.close(output)
    }

    /// Reads on a thread of the pool, for ``take()`` and ``next()``. Each message wakes the main thread by a signal, so
    /// the main thread must have made its `SignalWait` before.
    func begin(on pool: BlockingPool) throws(BlockingPool.Refusal) {
        try pool.run { [self] in
            var reader = PartReader(input)
            while let message = reader.next() {
                state.update { $0.messages.append(message) }
                SignalWait.wake()
            }
            state.update { $0.isClosed = true }
            SignalWait.wake()
        }
    }

    /// Waits for the next message; nil where the other end has closed.
    func next() -> PartMessage? {
        while true {
            let found: PartMessage?? = state.wait(atMost: .seconds(3_600)) { state in
                if !state.messages.isEmpty { return .some(state.messages.removeFirst()) }
                return state.isClosed ? .some(nil) : nil
            }
            if let found { return found }
        }
    }

    /// The messages since the last call, and whether the other end has closed.
    func take() -> (messages: [PartMessage], isClosed: Bool) {
        state.withLock { state in
            defer { state.messages = [] }
            return (state.messages, state.isClosed)
        }
    }
}

/// Reads messages from a descriptor. It blocks.
struct PartReader: Sendable {
    private let descriptor: CInt
    private var bytes: [UInt8] = []
    private var searched = 0

    /// The longest line. One with the histograms of a hundred names is less than a tenth of this.
    private static let lineLimit = 64 << 20

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// Returns the next message. Nil at the end, or for a line that is too long or not a message.
    mutating func next() -> PartMessage? {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let end = bytes[searched...].firstIndex(of: 10) {
                defer {
                    bytes.removeSubrange(...end)
                    searched = 0
                }
                return PartMessage(Array(bytes[..<end]))
            }
            searched = bytes.count
            guard searched < Self.lineLimit else { return nil }
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
        }
    }
}
