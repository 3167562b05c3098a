internal import Foundation
internal import UncurlEngine
internal import UncurlReactor

/// A stream task's connection as a pair of Foundation's streams, which the program may use on any thread. The
/// connection is closed when both have been closed or released.
///
/// The streams block, as Foundation's do. A program that does not want to wait asks `hasBytesAvailable` and
/// `hasSpaceAvailable`, or schedules the stream in a run loop, on which its delegate is called.
struct CapturedStreams: @unchecked Sendable {
    // `@unchecked`: it is made on the loop and handed over once.
    let input: InputStream
    let output: OutputStream

    init(_ connection: UpgradedConnection, having rest: [UInt8], isReadable: Bool, isWritable: Bool) {
        let pipe = CapturedConnection(connection, rest, isReadable, isWritable)
        input = CapturedInputStream(pipe)
        output = CapturedOutputStream(pipe)
    }
}

/// The state that the two streams share: the connection on its loop, and the bytes between it and their threads.
final class CapturedConnection: Sendable {
    /// About the most bytes that each direction holds.
    private static let most = 256 << 10

    struct State {
        var input = OctetQueue()
        /// Whether the peer sends no more.
        var isInputOver = false
        var isFull = false
        /// The bytes that have been written, and that the kernel has not taken yet.
        var queued = 0
        var failure: URLError?
        var isInputClosed = false
        var isOutputClosed = false
        var listeners: [StreamListener] = []
    }

    private let state: Monitor<State>
    private let connection: LoopBound<UpgradedConnection>

    init(_ connection: UpgradedConnection, _ rest: [UInt8], _ isReadable: Bool, _ isWritable: Bool) {
        var first = State()
        first.input = OctetQueue(rest)
        first.isInputOver = !isReadable
        first.isOutputClosed = !isWritable
        state = Monitor(first)
        self.connection = LoopBound(connection, on: connection.loop)
        connection.replaceDelegate(Relay(self))
        connection.resume()
    }

    func withState<Value>(_ body: (inout State) -> Value) -> Value { state.withLock(body) }

    // MARK: For the streams

    /// Reads bytes, and waits for the first. Returns 0 at the end, -1 for an error.
    func read(into buffer: UnsafeMutablePointer<UInt8>, atMost count: Int) -> Int {
        guard count > 0 else { return 0 }
        while true {
            let (read, hasRoom) =
                state.wait(atMost: .seconds(3600)) { state -> (Int, Bool)? in
                    guard !state.input.isEmpty else {
                        if state.isInputClosed || state.failure != nil { return (-1, false) }
                        return state.isInputOver ? (0, false) : nil
                    }
                    let taken = min(count, state.input.count)
                    unsafe state.input.take(taken, into: buffer)
                    guard state.isFull, state.input.count <= CapturedConnection.most / 2 else { return (taken, false) }
                    state.isFull = false
                    return (taken, true)
                } ?? (0, true)
            if hasRoom { onLoop { $0.resume() } }
            if read != 0 || state.withLock({ $0.isInputOver }) { return read }
        }
    }

    /// Writes bytes, and waits for room. Returns -1 for an error.
    func write(_ bytes: [UInt8]) -> Int {
        guard !bytes.isEmpty else { return 0 }
        while true {
            let isTaken = state.wait(atMost: .seconds(3600)) { state -> Bool? in
                if state.isOutputClosed || state.failure != nil { return false }
                guard state.queued < CapturedConnection.most else { return nil }
                state.queued += bytes.count
                return true
            }
            guard let isTaken else { continue }
            guard isTaken else { return -1 }
            onLoop { $0.write(bytes) }
            return bytes.count
        }
    }

    var hasInput: Bool { state.withLock { !$0.input.isEmpty || $0.isInputOver || $0.failure != nil } }
    var hasRoom: Bool {
        state.withLock { !$0.isOutputClosed && $0.failure == nil && $0.queued < CapturedConnection.most }
    }

    func closeInput() {
        let isOver = state.update { state in
            state.isInputClosed = true
            state.input = OctetQueue()
            return state.isOutputClosed
        }
        if isOver { close() } else { onLoop { $0.resume() } }
    }

    func closeOutput() {
        let (isFirst, isOver) = state.update { state in
            defer { state.isOutputClosed = true }
            return (!state.isOutputClosed, state.isInputClosed)
        }
        if isFirst { onLoop { $0.finishWriting(keepsReading: true) } }
        if isOver { close() }
    }

    /// Closes the connection. Queued bytes are still sent; nothing is read any more.
    private func close() {
        onLoop { connection in
            connection.replaceDelegate(LastWords())
            connection.resume()
            connection.finishWriting()
            if connection.queuedBytes == 0 { connection.close() }
        }
    }

    private func onLoop(_ call: @escaping @Sendable (UpgradedConnection) -> Void) {
        let connection = connection
        connection.loop.post { call(connection.value) }
    }

    // MARK: Listeners

    func add(_ listener: StreamListener) {
        state.withLock { $0.listeners.append(listener) }
        listener.tell(.openCompleted)
        if listener.isInput, hasInput { listener.tell(.hasBytesAvailable) }
        if !listener.isInput, hasRoom { listener.tell(.hasSpaceAvailable) }
    }

    func removeListeners(of stream: Stream) {
        state.withLock { $0.listeners.removeAll { $0.stream === stream || $0.stream == nil } }
    }

    fileprivate func tell(_ events: Stream.Event) {
        let listeners = state.withLock { $0.listeners }
        for listener in listeners { listener.tell(events) }
    }

    // MARK: From the connection, on its loop

    fileprivate func receive(_ bytes: Span<UInt8>, _ connection: UpgradedConnection) {
        let isFull = state.update { state in
            guard !state.isInputClosed else { return false }
            state.input.append(bytes)
            state.isFull = state.input.count >= CapturedConnection.most
            return state.isFull
        }
        if isFull { connection.pause() }
        tell(.hasBytesAvailable)
    }

    fileprivate func sent(_ count: Int) {
        state.update { $0.queued -= count }
        tell(.hasSpaceAvailable)
    }

    fileprivate func ended(_ failure: URLError?) {
        state.update { state in
            state.isInputOver = true
            state.failure = failure
        }
        tell(failure == nil ? .endEncountered : .errorOccurred)
    }
}

/// The connection's delegate. It holds the pipe weakly, so that the connection is closed when the streams are gone: the
/// ``LastWords`` is then on its way.
private final class Relay: UpgradedConnectionDelegate {
    private weak var pipe: CapturedConnection?

    init(_ pipe: CapturedConnection) { self.pipe = pipe }

    func connection(_ connection: UpgradedConnection, didReceive bytes: Span<UInt8>) {
        pipe?.receive(bytes, connection)
    }

    func connection(_ connection: UpgradedConnection, didSend count: Int) { pipe?.sent(count) }

    func connectionDidFinishReading(_ connection: UpgradedConnection) { pipe?.ended(nil) }

    func connection(_ connection: UpgradedConnection, didClose error: EngineError?) {
        if let error { pipe?.ended(ErrorTranslation.error(error, nil)) }
    }
}

/// The connection's delegate once both streams are closed: it sends what is queued, whether or not the streams are
/// still there.
private final class LastWords: UpgradedConnectionDelegate {
    func connection(_ connection: UpgradedConnection, didReceive bytes: Span<UInt8>) {}

    func connection(_ connection: UpgradedConnection, didSend count: Int) {
        if connection.queuedBytes == 0 { connection.close() }
    }

    func connectionDidFinishReading(_ connection: UpgradedConnection) {}

    func connection(_ connection: UpgradedConnection, didClose error: EngineError?) {}
}

/// A delegate that is called on a run loop.
struct StreamListener: @unchecked Sendable {
    // `@unchecked`: a run loop takes timers from any thread, and the stream is used on the run loop's own.
    weak var stream: Stream?
    let isInput: Bool
    let runLoop: RunLoop
    let mode: RunLoop.Mode

    /// Tells an event, if it is one of the stream's direction.
    func tell(_ event: Stream.Event) {
        if isInput ? event == .hasSpaceAvailable : event == .hasBytesAvailable { return }
        let listener = self
        // A timer wakes the run loop; a block given to `perform` does not.
        let timer = Timer(timeInterval: 0, repeats: false) { _ in
            guard let stream = listener.stream else { return }
            stream.delegate?.stream(stream, handle: event)
        }
        runLoop.add(timer, forMode: mode)
    }
}
