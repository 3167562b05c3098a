public import UncurlReactor
import UncurlText
public import UncurlWebSocket

/// Hears of a WebSocket. It is called on the loop, which must not be blocked. Every call may send, pause or close.
public protocol WebSocketConnectionDelegate: AnyObject {
    /// Reports a whole message.
    func webSocket(_ connection: WebSocketConnection, didReceive message: WebSocketMessage)

    /// Reports an answer to a ping, with its payload, or an unsolicited one (RFC 6455 §5.5.3).
    func webSocket(_ connection: WebSocketConnection, didReceivePong payload: [UInt8])

    /// Reports the end. This is the last call; it is not made after ``WebSocketConnection/abort()``.
    func webSocket(_ connection: WebSocketConnection, didEnd ending: WebSocketEnding)
}

/// A client's WebSocket on the connection of its handshake: messages, pings and the closing handshake.
///
/// ```
///   held ──start──▶ open ──close──▶ closing ──┐
///                    └────────────────────────┴── the peer's Close, a broken rule ──▶ lingering ──▶ over
/// ```
/// - held: nothing is read.
/// - closing: this side's Close is on its way, and the peer's must come within a limit; messages are ignored.
/// - lingering: the delegate has been told of the end; for a moment it is left to the server to close the transport
///   (RFC 6455 §7.1.1).
///
/// A lost connection leads from any state to over. Pings are answered in every state that allows it.
///
/// Loop-confined. Its connection keeps it alive until that has ended.
public final class WebSocketConnection {
    /// The limits of a WebSocket.
    public struct Options: Hashable, Sendable {
        /// The most octets of a message, its fragments together and decompressed. Beyond it the peer gets 1009.
        public var maximumMessageSize = 1 << 20
        /// The most frames of one message, empty ones too. Beyond it the peer gets 1008.
        public var maximumFragmentCount = WebSocketMachine.defaultFragmentCount
        /// How long the peer may take to answer a Close.
        public var closeTimeout = Duration.seconds(5)

        /// Makes options with the properties' initial values.
        public init() {}
    }

    private enum State { case held, open, closing, lingering, over }

    /// How long the server has to close the transport after the closing handshake.
    private static let lingerTime = Duration.seconds(2)
    /// How many unsent bytes make pongs wait; of several waiting pongs only the last remains (RFC 6455 §5.5.3). So a
    /// peer that pings and does not read cannot fill the memory.
    private static let pongRoom = 64 << 10

    private let connection: UpgradedConnection
    private let options: Options
    private var machine: WebSocketMachine
    private var state = State.held
    /// Nil once it has been told of the end.
    private var delegate: (any WebSocketConnectionDelegate)?
    /// Armed while it is closing or lingering.
    private var timer: TimerID?
    /// Whether delivery has been stopped by ``pause()``.
    public private(set) var isPaused = false
    /// When the last octets of the peer came, those of pings included.
    public private(set) var lastReceived: Instant
    /// Octets of frames that the peer has sent, those of its pings and of its Close included; over TLS before sealing.
    public private(set) var receivedBytes: UInt64 = 0
    /// Octets of frames that the kernel has taken, likewise.
    public private(set) var sentBytes: UInt64 = 0
    /// Whether received octets are being handled: a resume within that needs no further action.
    private var isTaking = false
    /// The bytes that were read and not handled when the delegate paused: at most one read.
    private var held: [UInt8] = []
    private var owedPong: [UInt8]?
    private var completions = WriteCompletions()

    /// - Parameters:
    ///   - connection: a connection that was not started yet.
    ///   - agreement: the result of `ClientHandshake.check(_:)` for the 101.
    ///   - options: the limits.
    ///   - delegate: kept until the end.
    public init(
        _ connection: UpgradedConnection,
        _ agreement: Agreement,
        options: Options = Options(),
        delegate: any WebSocketConnectionDelegate
    ) {
        self.connection = connection
        self.options = options
        machine = WebSocketMachine(
            .client,
            deflate: agreement.deflate,
            maximumMessageSize: options.maximumMessageSize,
            maximumFragmentCount: options.maximumFragmentCount
        )
        self.delegate = delegate
        lastReceived = connection.loop.now
    }

    /// The loop that the WebSocket lives on.
    public var loop: EventLoop { connection.loop }

    /// How many octets the kernel has not taken yet. To hold a fast sender to its reader, send again when this is
    /// small.
    public var queuedBytes: Int { connection.queuedBytes }

    /// The most octets of a message. A change applies from the next frame on.
    public var maximumMessageSize: Int {
        get { machine.maximumMessageSize }
        set { machine.maximumMessageSize = newValue }
    }

    /// The most fragments of a message. A change applies from the next frame on.
    public var maximumFragmentCount: Int {
        get { machine.maximumFragmentCount }
        set { machine.maximumFragmentCount = newValue }
    }

    // MARK: For its owner

    /// Begins to read, from the next turn on.
    public func start() {
        guard state == .held else { return }
        state = .open
        connection.start(self)
    }

    /// Stops delivery after the message that is being delivered; soon the peer has to wait. Its pings and its Close
    /// wait too.
    public func pause() {
        guard !isPaused, isOpen else { return }
        isPaused = true
        connection.pause()
    }

    /// Resumes delivery. What was already read is delivered before this returns, unless it is called in a delivery.
    public func resume() {
        guard isPaused else { return }
        isPaused = false
        if !isTaking, !held.isEmpty {
            var bytes: [UInt8] = []
            swap(&bytes, &held)
            take(bytes.span)
        }
        if !isPaused { connection.resume() }
    }

    /// Holds or releases the sending. While it is held, nothing is sent, not even pongs. ``close(_:)`` releases it.
    public func hold(_ isHeld: Bool) {
        if isOpen { connection.hold(isHeld) }
    }

    /// Sends a message. It is queued without limit, and sent in this turn or the next, unless held.
    ///
    /// - Parameters:
    ///   - message: text or octets.
    ///   - left: called once, with true when the kernel has taken all of it, with false when it never will.
    public func send(_ message: WebSocketMessage, then left: ((Bool) -> Void)? = nil) {
        guard isOpen, machine.send(message) else {
            left?(false)
            return
        }
        flush(left)
    }

    /// Sends a ping.
    ///
    /// - Parameters:
    ///   - payload: at most 125 octets; a longer one is not sent.
    ///   - left: as in ``send(_:then:)``.
    public func ping(_ payload: [UInt8], then left: ((Bool) -> Void)? = nil) {
        guard isOpen, machine.ping(payload) else {
            left?(false)
            return
        }
        flush(left)
    }

    /// Begins the closing handshake. Messages that come from here on are ignored, even if the delegate had paused.
    public func close(_ reason: CloseReason) {
        guard isOpen else { return }
        if state == .held { connection.start(self) }
        guard machine.close(reason) else { return }
        state = .closing
        timer = loop.arm(at: loop.now.advanced(by: options.closeTimeout), self)
        flush()
        connection.hold(false)
        resume()
    }

    /// Ends at once, with RST; what is queued is lost. The delegate gets no more calls.
    public func abort() {
        _ = leave(.over)
        connection.close(abruptly: true)
        tellTheRest()
    }

    private var isOpen: Bool { state == .held || state == .open }

    private func flush(_ left: ((Bool) -> Void)? = nil) {
        let bytes = machine.takeOutput()
        guard !bytes.isEmpty else { return }
        completions.append(bytes.count, left)
        connection.write(bytes)
    }

    // MARK: Receiving

    private func take(_ bytes: Span<UInt8>) {
        isTaking = true
        defer { isTaking = false }
        var position = 0
        while !isPaused {
            do throws(WebSocketError) {
                guard let event = try machine.receive(bytes, &position) else { return }
                handle(event)
            } catch {
                flush()
                connection.finishWriting()
                return end(.failure(.violation(error)), .lingering)
            }
        }
        held.append(bytes.extracting(droppingFirst: position))
    }

    private func handle(_ event: WebSocketMachine.Event) {
        switch event {
        case .message(let message):
            if state == .open { delegate?.webSocket(self, didReceive: message) }
        case .ping(let payload):
            owedPong = payload
            payPong()
        case .pong(let payload):
            if state == .open { delegate?.webSocket(self, didReceivePong: payload) }
        case .closed(let reason):
            flush()
            end(.success(reason), .lingering)
        }
    }

    private func payPong() {
        guard let payload = owedPong, connection.queuedBytes <= WebSocketConnection.pongRoom else { return }
        owedPong = nil
        machine.pong(payload)
        flush()
    }

    // MARK: Ends

    private func end(_ ending: WebSocketEnding, _ next: State = .over) {
        let delegate = leave(next)
        if next == .lingering { timer = loop.arm(at: loop.now.advanced(by: WebSocketConnection.lingerTime), self) }
        held = []
        tellTheRest()
        delegate?.webSocket(self, didEnd: ending)
    }

    /// Calls the completions of what will not be sent any more.
    private func tellTheRest() {
        for call in completions.takeAll() { call(false) }
    }

    private func leave(_ next: State) -> (any WebSocketConnectionDelegate)? {
        state = next
        if let timer = timer.take() { loop.cancel(timer) }
        return delegate.take()
    }
}

extension WebSocketConnection: UpgradedConnectionDelegate {
    public func connection(_ connection: UpgradedConnection, didReceive bytes: Span<UInt8>) {
        lastReceived = connection.loop.now
        receivedBytes &+= UInt64(bytes.count)
        take(bytes)
    }

    public func connection(_ connection: UpgradedConnection, didSend count: Int) {
        sentBytes &+= UInt64(count)
        completions.left(count)
        while let call = completions.takeNext() { call(true) }
        payPong()
    }

    public func connectionDidFinishReading(_ connection: UpgradedConnection) {
        switch state {
        case .held, .open, .closing:
            // No Close came before it (RFC 6455 §7.1.5: 1006).
            connection.close()
            end(.failure(.lost(nil)))
        case .lingering:
            connection.finishWriting()
        case .over:
            break
        }
    }

    public func connection(_ connection: UpgradedConnection, didClose error: EngineError?) {
        end(.failure(.lost(error)))
    }
}

extension WebSocketConnection: TimerHandler {
    public func timerFired(_ id: TimerID) {
        timer = nil
        switch state {
        case .closing:
            connection.close(abruptly: true)
            end(.failure(.closeTimedOut))
        case .lingering:
            connection.close()
            state = .over
        case .held, .open, .over: break
        }
    }
}

/// How a WebSocket ended: with the peer's reason if the closing handshake was done, whichever end began it.
public typealias WebSocketEnding = Result<CloseReason, WebSocketFailure>

/// The reason why there was no closing handshake.
public enum WebSocketFailure: Error, Hashable, Sendable {
    /// The peer broke a rule, and was told which.
    case violation(WebSocketError)
    /// The connection was lost; nil: the peer ended it without a close frame.
    case lost(EngineError?)
    /// The peer did not answer the Close in time.
    case closeTimedOut
}

extension WebSocketFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .violation(let error): "the peer sent \(error)"
        case .lost(nil): "the peer ended the connection without a close frame"
        case .lost(let error?): "\(error)"
        case .closeTimedOut: "the peer did not answer the close frame"
        }
    }
}

/// Completions to call when octets were sent, in the order of the octets.
struct WriteCompletions {
    /// How many octets were written and sent, from the beginning.
    private var written: UInt64 = 0
    private var sent: UInt64 = 0
    private var untold: [(end: UInt64, call: (Bool) -> Void)] = []
    /// The index of the first completion that was not called.
    private var first = 0

    mutating func append(_ count: Int, _ call: ((Bool) -> Void)?) {
        written += UInt64(count)
        if let call { untold.append((written, call)) }
    }

    mutating func left(_ count: Int) { sent += UInt64(count) }

    /// Removes and returns all completions that are left: nothing is sent any more.
    mutating func takeAll() -> [(Bool) -> Void] {
        defer { (untold, first) = ([], 0) }
        return untold[first...].map(\.call)
    }

    /// Removes and returns the next completion whose octets were sent; it may append others when it is called.
    mutating func takeNext() -> ((Bool) -> Void)? {
        guard first < untold.count, untold[first].end <= sent else { return nil }
        let call = untold[first].call
        first += 1
        if first == untold.count {
            untold.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 256, first * 2 > untold.count {
            untold.removeFirst(first)
            first = 0
        }
        return call
    }
}
