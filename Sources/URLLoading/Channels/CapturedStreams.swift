internal import Foundation
internal import UncurlEngine
internal import UncurlReactor

/// A stream task's connection as a pair of Foundation's streams, which the program may use on any thread. The
/// connection is closed when both have been closed or released.
///
/// The streams block, as Foundation's do. A program that does not want to wait asks `hasBytesAvailable` and
/// `hasSpaceAvailable`, or schedules the stream in a run loop, on which its delegate is called.
package struct CapturedStreams: @unchecked Sendable {
    // `@unchecked`: it is made on the loop and handed over once.
    let input: InputStream
    let output: OutputStream
}

extension CapturedStreams {
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
            connection.replaceDelegate(Relay(nil))
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

/// The connection's delegate. It holds the pipe weakly, so that the connection is closed when the streams are gone.
/// Once both streams are closed, one without a pipe takes its place: it sends what is queued, whether or not the
/// streams are still there.
private final class Relay: UpgradedConnectionDelegate {
    private weak var pipe: CapturedConnection?
    private let isLast: Bool

    init(_ pipe: CapturedConnection?) { (self.pipe, isLast) = (pipe, pipe == nil) }

    func connection(_ connection: UpgradedConnection, didReceive bytes: Span<UInt8>) {
        pipe?.receive(bytes, connection)
    }

    func connection(_ connection: UpgradedConnection, didSend count: Int) {
        if isLast, connection.queuedBytes == 0 { connection.close() }
        pipe?.sent(count)
    }

    func connectionDidFinishReading(_ connection: UpgradedConnection) { pipe?.ended(nil) }

    func connection(_ connection: UpgradedConnection, didClose error: EngineError?) {
        if let error { pipe?.ended(URLError(error, nil)) }
    }
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

/// The reading half of a captured connection.
final class CapturedInputStream: InputStream {
    private let pipe: CapturedConnection
    private var isOpened = false
    private var isOver = false
    private var isClosed = false
    private weak var listener: (any StreamDelegate)?

    init(_ pipe: CapturedConnection) {
        self.pipe = pipe
        super.init(data: Data())
    }

    deinit { if !isClosed { pipe.closeInput() } }

    override var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

    override func open() { isOpened = true }

    override func close() {
        guard !isClosed else { return }
        isClosed = true
        pipe.removeListeners(of: self)
        pipe.closeInput()
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard isOpened, !isClosed else { return -1 }
        let count = unsafe pipe.read(into: buffer, atMost: len)
        if count == 0 { isOver = true }
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { isOpened && !isClosed && pipe.hasInput }

    override var streamStatus: Stream.Status {
        if isClosed { return .closed }
        guard isOpened else { return .notOpen }
        if pipe.withState({ $0.failure != nil && $0.input.isEmpty }) { return .error }
        return isOver ? .atEnd : .open
    }

    override var streamError: (any Error)? { pipe.withState { $0.failure } }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        pipe.add(StreamListener(stream: self, isInput: true, runLoop: aRunLoop, mode: mode))
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { pipe.removeListeners(of: self) }
}

/// The writing half of a captured connection.
final class CapturedOutputStream: OutputStream {
    private let pipe: CapturedConnection?
    private var isOpened = false
    private var isClosed = false
    private weak var listener: (any StreamDelegate)?

    init(_ pipe: CapturedConnection) {
        self.pipe = pipe
        super.init(toMemory: ())
    }

    /// Makes a stream that leads nowhere: Foundation requires this initialiser of every subclass.
    required init(toMemory: ()) {
        pipe = nil
        super.init(toMemory: ())
    }

    deinit { if !isClosed { pipe?.closeOutput() } }

    override var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

    override func open() { isOpened = true }

    override func close() {
        guard !isClosed else { return }
        isClosed = true
        pipe?.removeListeners(of: self)
        pipe?.closeOutput()
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard isOpened, !isClosed, let pipe, len >= 0 else { return -1 }
        return pipe.write(unsafe [UInt8](UnsafeBufferPointer(start: buffer, count: len)))
    }

    override var hasSpaceAvailable: Bool { isOpened && !isClosed && pipe?.hasRoom == true }

    override var streamStatus: Stream.Status {
        if isClosed { return .closed }
        guard isOpened else { return .notOpen }
        return pipe?.withState { $0.failure != nil } == true ? .error : .open
    }

    override var streamError: (any Error)? { pipe?.withState { $0.failure } }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        pipe?.add(StreamListener(stream: self, isInput: false, runLoop: aRunLoop, mode: mode))
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { pipe?.removeListeners(of: self) }
}

/// Octets that have been received and not yet read. What is taken from the front is dropped once it is half of what is
/// held, so that small reads do not move the rest each time.
struct OctetQueue: Sendable {
    private var octets: [UInt8]
    private var start = 0

    init(_ octets: [UInt8] = []) { self.octets = octets }

    var count: Int { octets.count - start }
    var isEmpty: Bool { count == 0 }
    /// All of the octets.
    var rest: [UInt8] { Array(octets[start...]) }

    mutating func append(_ bytes: Span<UInt8>) { unsafe bytes.withUnsafeBufferPointer { unsafe octets += $0 } }

    /// Takes as many octets, which must be there.
    mutating func take(_ count: Int) -> Data {
        let data = Data(octets[start..<start + count])
        drop(count)
        return data
    }

    /// Takes as many octets, which must be there, into a buffer with room for them.
    mutating func take(_ count: Int, into buffer: UnsafeMutablePointer<UInt8>) {
        unsafe octets.withUnsafeBufferPointer { bytes in
            if let first = bytes.baseAddress { unsafe buffer.update(from: first + start, count: count) }
        }
        drop(count)
    }

    private mutating func drop(_ count: Int) {
        start += count
        guard start >= octets.count - start else { return }
        octets.removeFirst(start)
        start = 0
    }
}
