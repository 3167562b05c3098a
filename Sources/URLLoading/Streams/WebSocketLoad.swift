internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlWebSocket

/// A task's WebSocket on its session's loop, from the handshake on. It matches messages with the callers that ask for
/// them. Loop-confined.
///
/// ```
///   talking ──close──▶ closing ──┐
///      ├──────────────▶ ended ───┤
///      └─────────────────────────┴──▶ stopped
/// ```
/// - closing: the program has closed; only the callers of messages that were sent before still get an answer.
/// - ended: the connection is gone; its end is reported after the messages that had come before it.
/// - stopped: the load is over; the connection ends by itself.
final class WebSocketLoad: AnswerSource, WishWorker {
    private enum State {
        case talking
        /// With the reason that was sent to the server.
        case closing(CloseReason)
        /// The connection is gone, and messages are left. The timer is armed once the delegate queue has run the
        /// earlier calls.
        case ended(WebSocketEnding, TimerID?)
        case stopped
    }

    /// How much is read before the program asks for it, in bytes: enough that the next message is usually there.
    private static let ahead = 64 << 10
    /// What a message counts besides its content, in bytes, so that empty ones count too.
    private static let overhead = 64

    /// The delegate, until the load is over.
    private var delegate: (any LoadDelegate)?
    private let loop: EventLoop
    /// The URL as the program gave it, for errors.
    private let url: URL?
    private let channel: WebSocketChannel
    private var connection: WebSocketConnection?
    private var state = State.talking
    /// Callers that asked before there was a message; empty if ``messages`` is not.
    private var receivers: [(number: UInt64, reply: TaskReply<WebSocketMessage>)] = []
    private var messages: [WebSocketMessage] = []
    private var weight = 0
    /// Whether the program has asked for messages; then it will ask for those left at the end, too.
    private var isRead = false
    /// Whether reading is paused until half of what is held has been taken.
    private var isFull = false
    private var isReadingHeld = false
    /// Pings without a pong. One whose caller has withdrawn it has no reply: its pong still answers those before it.
    private var pings: [(number: UInt64, reply: TaskReply<Void>?)] = []
    private var unsent: [TaskReply<Void>] = []
    /// How often an end has begun to wait for the next message to be taken.
    private var waits = 0
    /// How long the server may send nothing at all, and the timer that checks it.
    private var silence: (limit: Duration, timer: TimerID)?

    init(_ delegate: any LoadDelegate, _ channel: WebSocketChannel, on loop: EventLoop) {
        self.delegate = delegate
        self.channel = channel
        self.loop = loop
        url = delegate.task.originalRequest?.url
    }

    /// Begins with the connection after its handshake.
    ///
    /// - Parameters:
    ///   - limit: how long the server may send nothing at all; nil for ever.
    ///   - callbacks: the queue on which handlers are called, after earlier calls.
    func begin(
        _ upgraded: UpgradedConnection,
        _ agreement: Agreement,
        silentFor limit: Duration?,
        _ callbacks: CallbackQueue
    ) {
        let connection = WebSocketConnection(upgraded, agreement, delegate: self)
        self.connection = connection
        guard delegate != nil else { return }
        delegate?.tell(.opened(agreement.subprotocol))
        for wish in channel.open(LoopBound(self, on: loop), callbacks) { take(wish) }
        // Not before: the channel passes on only what is set from here on.
        setMaximumMessageSize(channel.facts.maximumMessageSize)
        connection.start()
        updateReading()
        if let limit { watch(limit) }
    }

    private func watch(_ limit: Duration) {
        guard let connection else { return }
        // While this side does not read, the server may have sent something.
        let since = connection.isPaused ? loop.now : connection.lastReceived
        let timer = loop.arm(
            at: since.advanced(by: limit),
            TimerCall { [weak self] in
                self?.lookForSilence(limit)
            }
        )
        silence = (limit, timer)
    }

    private func lookForSilence(_ limit: Duration) {
        silence = nil
        guard let connection, let delegate else { return }
        if !connection.isPaused, connection.lastReceived.advanced(by: limit) <= loop.now {
            delegate.end(URLError(.timedOut, url, "the server has sent nothing for \(limit)"))
        } else {
            watch(limit)
        }
    }

    // MARK: For the task

    func take(_ wish: WebSocketWish) {
        if case .limit(let size) = wish { return setMaximumMessageSize(size) }
        switch state {
        case .talking: fulfil(wish)
        case .closing:
            if case .unsent(let reply) = wish { unsent.append(reply) } else { fail(wish) }
        case .ended(let ending, let timer): take(wish, behind: ending, timer)
        // The wish was on its way when the load stopped.
        case .stopped: channel.ask(wish)
        }
    }

    /// Takes a wish after the connection is gone: messages that had come can still be taken, all else fails.
    private func take(_ wish: WebSocketWish, behind ending: WebSocketEnding, _ timer: TimerID?) {
        switch wish {
        case .receive:
            fulfil(wish)
            if let timer { loop.cancel(timer) }
            if messages.isEmpty { tell(ending) } else { wait(toTell: ending) }
        case .unsent(let reply): unsent.append(reply)
        case .send(_, let reply), .ping(_, let reply):
            let reason = "the WebSocket is closed"
            answer(reply, .failure(URLError(.networkConnectionLost, url, reason)))
        case .limit: break
        }
    }

    private func fulfil(_ wish: WebSocketWish) {
        switch wish {
        case .send(let message, let reply):
            connection?.send(message) { [self] hasLeft in
                guard hasLeft else { return take(.unsent(reply)) }
                delegate?.count(sent: message.size)
                answer(reply, .success(()))
            }
        case .unsent(let reply):
            unsent.append(reply)
        case .ping(let number, let reply):
            pings.append((number, reply))
            connection?.ping(WebSocketLoad.payload(number))
        case .receive(let number, let reply):
            isRead = true
            guard !messages.isEmpty else { return receivers.append((number, reply)) }
            let message = messages.removeFirst()
            weight -= message.size + WebSocketLoad.overhead
            answer(reply, .success(message))
            updateReading()
        case .limit: break
        }
    }

    private func fail(_ wish: WebSocketWish) {
        if let answer = wish.failure(channel.cancellation("the WebSocket is being closed")) { pass(answer) }
    }

    func takeBack(_ number: UInt64) {
        if let index = receivers.firstIndex(where: { $0.number == number }) {
            fail(.receive(number, receivers.remove(at: index).reply))
        } else if let index = pings.firstIndex(where: { $0.number == number }), let reply = pings[index].reply.take() {
            fail(.ping(number, reply))
            // Nobody waits for the pongs of the first ones any more.
            pings.removeFirst(pings.prefix { $0.reply == nil }.count)
        }
    }

    private func setMaximumMessageSize(_ size: Int) {
        connection?.maximumMessageSize = size
        // A larger message may come in more fragments, of which 64 octets each are few.
        connection?.maximumFragmentCount = max(WebSocketMachine.defaultFragmentCount, size / 64)
    }

    func hold(reading: Bool, sending: Bool) {
        isReadingHeld = reading
        connection?.hold(sending)
        updateReading()
    }

    private func updateReading() {
        if weight >= WebSocketLoad.ahead { isFull = true }
        if weight <= WebSocketLoad.ahead / 2 { isFull = false }
        if isFull || isReadingHeld { connection?.pause() } else { connection?.resume() }
    }

    func close(_ reason: CloseReason) {
        switch state {
        case .talking: state = .closing(reason)
        // The messages that are left are not wanted any more.
        case .ended(let ending, _): return tell(ending)
        case .closing, .stopped: return
        }
        for (number, reply) in receivers { fail(.receive(number, reply)) }
        for case (let number, let reply?) in pings { fail(.ping(number, reply)) }
        (receivers, pings, messages, weight) = ([], [], [], 0)
        connection?.close(reason)
    }

    func stop() {
        if case .stopped = state { return }
        if case .ended(_, let timer?) = state { loop.cancel(timer) }
        state = .stopped
        if let silence { loop.cancel(silence.timer) }
        silence = nil
        let wishes =
            receivers.map { WebSocketWish.receive($0.number, $0.reply) }
            + pings.compactMap { ping in ping.reply.map { WebSocketWish.ping(ping.number, $0) } }
            + unsent.map { WebSocketWish.unsent($0) }
        channel.giveBack(wishes) { $0.left = messages }
        (receivers, pings, messages, unsent) = ([], [], [], [])
        delegate = nil
        // There is no connection if it has ended by itself. Bytes that the server has not taken by now would not be
        // taken in time.
        guard let connection else { return }
        self.connection = nil
        if connection.queuedBytes > 0 { connection.abort() } else { connection.close(CloseReason(1001) ?? .none) }
    }

    // MARK: For the program

    private func answer<Value: Sendable>(_ reply: TaskReply<Value>, _ result: Result<Value, any Error>) {
        pass(reply.answer(result))
    }

    private func pass(_ answer: TaskAnswer) {
        if let delegate { delegate.pass(answer) } else { channel.tell(answer) }
    }

    /// Returns the payload of a ping: its number, so that a pong answers its ping and those before it (RFC 6455
    /// §5.5.3).
    private static func payload(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
}

extension WebSocketLoad: WebSocketConnectionDelegate {
    func webSocket(_ connection: WebSocketConnection, didReceive message: WebSocketMessage) {
        guard case .talking = state else { return }
        delegate?.count(received: message.size)
        if receivers.isEmpty {
            messages.append(message)
            weight += message.size + WebSocketLoad.overhead
            updateReading()
        } else {
            answer(receivers.removeFirst().reply, .success(message))
        }
    }

    func webSocket(_ connection: WebSocketConnection, didReceivePong payload: [UInt8]) {
        guard let index = pings.firstIndex(where: { WebSocketLoad.payload($0.number) == payload }) else { return }
        let answered = pings[...index]
        pings.removeFirst(index + 1)
        for reply in answered.compactMap(\.reply) { answer(reply, .success(())) }
    }

    func webSocket(_ connection: WebSocketConnection, didEnd ending: WebSocketEnding) {
        self.connection = nil
        switch state {
        case .talking where isRead && !messages.isEmpty: wait(toTell: ending)
        case .talking, .closing: tell(ending)
        case .ended, .stopped: break
        }
    }

    /// Leaves the program time to take the messages that are left. The time begins when the delegate queue has run the
    /// earlier calls, so that a slow queue does not get the end before the messages.
    private func wait(toTell ending: WebSocketEnding) {
        guard let delegate else { return }
        state = .ended(ending, nil)
        waits += 1
        let (home, wait) = (LoopBound(self, on: loop), waits)
        delegate.later { home.loop.post { home.value.beginPatience(wait) } }
    }

    private func beginPatience(_ wait: Int) {
        guard wait == waits, case .ended(let ending, nil) = state else { return }
        let timer = loop.arm(
            at: loop.now.advanced(by: channel.facts.patience),
            TimerCall { [weak self] in
                self?.tell(ending)
            }
        )
        state = .ended(ending, timer)
    }

    private func tellClosed() {
        guard let delegate, let task = delegate.task as? URLSessionWebSocketTask else { return }
        delegate.tell(.closed(task.closeCode, task.closeReason))
    }

    private func tell(_ ending: WebSocketEnding) {
        guard let delegate else { return }
        switch ending {
        case .success(let reason):
            channel.change { $0.close(Int(reason.code ?? 1005), reason.text) }
            tellClosed()
            delegate.end(nil)
        case .failure(let failure):
            if case .closing(let reason) = state {
                // The server has not answered the close frame: the code that this side has sent counts.
                channel.change { $0.close(Int(reason.code ?? 1005), reason.text) }
                return delegate.end(channel.cancellation("\(failure)"))
            }
            channel.change { $0.close(failure.status) }
            delegate.end(failure.translated(url))
        }
    }
}

extension WebSocketMessage {
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

extension WebSocketFailure {
    /// The close code that an application reads (RFC 6455 §7.1.5): the one that the server was sent, or 1006.
    fileprivate var status: Int {
        switch self {
        case .violation(let error): Int(error.closeCode)
        case .lost, .closeTimedOut: 1006
        }
    }

    fileprivate func translated(_ url: URL?) -> URLError {
        switch self {
        case .violation(.messageTooBig): URLError(.dataLengthExceedsMaximum, url, self)
        case .violation: URLError(.badServerResponse, url, self)
        case .lost(let error?): URLError(error, url)
        case .lost(nil): URLError(.networkConnectionLost, url, self)
        case .closeTimedOut: URLError(.timedOut, url, self)
        }
    }
}
