import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlWebSocket

/// Receives the events of a ``WebSocketLink``, on its loop. Every call may open, send or close.
protocol WebSocketLinkOwner: AnyObject {
    func linkDidOpen(_ report: ExchangeReport)

    /// - Parameter report: The report of the opening handshake.
    func linkDidFailToOpen(_ failure: Failure, words: String, _ report: ExchangeReport)

    func linkDidReceive(_ message: WebSocketMessage)

    /// Reports that no answer has come in time, by the loop's timers.
    func linkDidTimeOut()

    /// Reports the end of an open WebSocket. Not called after ``WebSocketLink/abort()``.
    func linkDidEnd(_ ending: WebSocketEnding)
}

/// A virtual user's WebSocket: opened by a handshake, used for one message at a time, closed, and opened again.
///
/// ```
///   closed ──open──▶ opening ──101──▶ open ──close──▶ closing ──the peer's Close, or too late──▶ closed
///      ▲                │              └── lost, or closed by the peer ──▶┐
///      └── refused ─────┘◀─────────────────────────────────────────────────┘
/// ```
/// It is confined to its loop.
final class WebSocketLink {
    private enum State {
        case closed
        case opening(ClientHandshake, Agreement?)
        case open(WebSocketConnection)
        case closing(WebSocketConnection)
    }

    /// The limit on the wait for the peer's Close, after this side's.
    private static let closeTimeout = Duration.seconds(1)

    private let loop: EventLoop
    private unowned let owner: any WebSocketLinkOwner
    private var state = State.closed
    /// The connection's counts at the last call of ``takeBytes()``.
    private var counted: (received: UInt64, sent: UInt64) = (0, 0)
    private var timer: TimerID?
    /// The last connection, until its server has closed the transport.
    private var former: WebSocketConnection?

    init(on loop: EventLoop, owner: any WebSocketLinkOwner) { (self.loop, self.owner) = (loop, owner) }

    var isOpen: Bool { if case .open = state { true } else { false } }
    /// Whether this side has closed it.
    private(set) var isClosing = false

    /// Starts the opening handshake. `request` makes the request with the handshake's fields.
    func open(_ engine: Engine, _ request: (ClientHandshake) throws(EngineError) -> EngineRequest) throws(EngineError) {
        // Without subprotocols no handshake is refused.
        guard case .closed = state, let handshake = try? ClientHandshake(deflate: nil) else { return }
        let request = try request(handshake)
        (isClosing, counted, former) = (false, (0, 0), nil)
        state = .opening(handshake, nil)
        engine.start(request, delegate: self)
    }

    /// Sends a message and begins to wait for another.
    ///
    /// - Parameters:
    ///   - limit: How long the answer may take, in nanoseconds.
    ///   - left: Called when the kernel has taken the whole message.
    func send(_ message: WebSocketMessage, limit: UInt64, then left: @escaping () -> Void) {
        guard case .open(let connection) = state else { return }
        timer = loop.arm(at: loop.now.advanced(byNanoseconds: Int64(clamping: limit)), self)
        connection.send(message) { hasLeft in if hasLeft { left() } }
    }

    /// Ends the wait for an answer: it has come, or is no longer wanted.
    func stopWaiting() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// Returns the bytes received and sent since the last call, including the heads of frames.
    func takeBytes() -> (received: UInt64, sent: UInt64) {
        let connection: WebSocketConnection? =
            switch state {
            case .open(let connection), .closing(let connection): connection
            case .closed, .opening: former
            }
        guard let connection else { return (0, 0) }
        let now = (received: connection.receivedBytes, sent: connection.sentBytes)
        defer { counted = now }
        return (now.received &- counted.received, now.sent &- counted.sent)
    }

    /// Begins the closing handshake (RFC 6455 §7). Its end is reported.
    func close() {
        guard case .open(let connection) = state, let reason = CloseReason(1000) else { return }
        stopWaiting()
        isClosing = true
        state = .closing(connection)
        connection.close(reason)
    }

    /// Ends the WebSocket at once, by RST. The owner gets no call for this.
    func abort() {
        stopWaiting()
        switch state {
        case .open(let connection), .closing(let connection): connection.abort()
        case .closed, .opening: former?.abort()
        }
        (state, former) = (.closed, nil)
    }

    private func leave(_ connection: WebSocketConnection) {
        stopWaiting()
        (state, former) = (.closed, connection)
    }
}

extension WebSocketLink: ExchangeDelegate {
    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        guard case .opening(let handshake, _) = state, head.status == 101 else { return }
        state = .opening(handshake, try? handshake.check(head))
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}

    func exchange(_ id: ExchangeID, didUpgrade upgraded: UpgradedConnection) {
        guard case .opening(_, let agreement?) = state else { return upgraded.close() }
        var options = WebSocketConnection.Options()
        options.maximumMessageSize = WebSocketOptions.answerLimit
        options.closeTimeout = Self.closeTimeout
        let connection = WebSocketConnection(upgraded, agreement, options: options, delegate: self)
        state = .open(connection)
        connection.start()
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        switch (state, outcome) {
        case (.open, _): owner.linkDidOpen(report)
        case (.opening, .completed):
            state = .closed
            guard let status = report.status, status != 101 else {
                let failure = Failure(.upgrade, .malformed, detail: "handshake")
                return owner.linkDidFailToOpen(failure, words: "the answer does not fit the handshake", report)
            }
            let failure = Failure(.upgrade, .upgradeRefused, detail: "status \(status)")
            owner.linkDidFailToOpen(failure, words: "status \(status)", report)
        case (.opening, .failed(let error)):
            state = .closed
            let failure = Failure(error, report)
            let isSent = report.timings.requestStart != nil
            owner.linkDidFailToOpen(
                isSent ? Failure(.upgrade, failure.kind, errno: failure.errno, detail: failure.detail) : failure,
                words: "\(error)",
                report
            )
        case (.closed, _), (.closing, _): break
        }
    }
}

extension WebSocketLink: WebSocketConnectionDelegate {
    func webSocket(_ connection: WebSocketConnection, didReceive message: WebSocketMessage) {
        if case .open = state { owner.linkDidReceive(message) }
    }

    func webSocket(_ connection: WebSocketConnection, didReceivePong payload: [UInt8]) {}

    func webSocket(_ connection: WebSocketConnection, didEnd ending: WebSocketEnding) {
        switch state {
        case .open, .closing: break
        case .closed, .opening: return
        }
        leave(connection)
        owner.linkDidEnd(ending)
    }
}

extension WebSocketLink: TimerHandler {
    func timerFired(_ id: TimerID) {
        guard id == timer else { return }
        timer = nil
        owner.linkDidTimeOut()
    }
}

extension Failure {
    /// The reason why a message on a WebSocket gets no answer.
    init(_ ending: WebSocketEnding) {
        switch ending {
        case .closed(let reason):
            self.init(.message, .closeFrame, detail: reason.code.map { "\($0)" } ?? "without a code")
        case .failed(.violation(let error)): self.init(.message, .malformed, detail: Self.name(of: error))
        case .failed(.lost(.connectionLost(let errno)?)):
            self.init(.message, ended: .closedBeforeAnswer, by: errno)
        case .failed(.lost(nil)): self.init(.message, .closedBeforeAnswer)
        case .failed(.lost(let error?)):
            let failure = Failure(error, nil)
            self.init(.message, failure.kind, errno: failure.errno, detail: failure.detail)
        case .failed(.closeTimedOut): self.init(.message, .timeout)
        }
    }

    /// Returns the name of an error, from a fixed set.
    private static func name(of error: WebSocketError) -> String {
        if case .violation(let rule) = error { return String("\(rule)".prefix(80)) }
        return switch error {
        case .violation: ""
        case .invalidText: "text that is not UTF-8"
        case .messageTooBig: "message too big"
        case .tooManyFragments: "too many fragments"
        case .corrupt: "corrupt compression"
        case .outOfMemory: "out of memory"
        }
    }
}
