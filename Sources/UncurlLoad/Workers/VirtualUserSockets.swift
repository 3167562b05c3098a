import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlText
import UncurlWebSocket

/// Virtual users with a WebSocket each: a request is a message, and its answer is the next message of the server.
///
/// All connections are opened at once, as fast as the pacer allows, and opened again when they end.
extension VirtualUserDriver {
    /// Opens the WebSocket of a user without one. Called when the pacer allows another connection.
    func openSocket() {
        guard let user = sockets?.unopened.popLast() else { return }
        let (requests, request) = (worker.requests, plan.options.request)
        do throws(EngineError) {
            try user.link?.open(worker.engine) { handshake throws(EngineError) in
                try EngineRequest(
                    webSocket: handshake,
                    origin: requests.origin,
                    target: request.target,
                    fields: try request.engineFields,
                    options: requests.options
                )
            }
        } catch {
            let failure = Failure(.upgrade, .other, detail: "unusable request")
            worker.metrics.connectionFailed(failure, at: worker.sinceBegin(worker.loop.now), example: "\(error)")
            reopen(user, afterFailure: true)
        }
    }

    func opened(_ user: VirtualUser, _ report: ExchangeReport) {
        sockets?.open += 1
        if sockets?.whenClosed != nil { return user.link?.close() ?? () }
        guard worker.hasTime() || worker.drain() else { return worker.stop() }
        worker.noteRetry(report)
        worker.noteBytes(report)
        let span = worker.nanoseconds(from: report.timings.start, to: worker.loop.now)
        guard span <= plan.options.timeout else {
            user.link?.abort()
            sockets?.open -= 1
            return refused(user, Failure(.upgrade, .timeout), words: "opened after \(timeText(span))")
        }
        worker.metrics.opened(after: span)
        user.messages = 0
        user.needsConnection = false
        if plan.options.profile == nil, !worker.isDraining { startNext(user) } else { free(user) }
    }

    /// The number of WebSockets that have been counted as opened and can carry messages.
    var openSockets: Int { sockets?.users.count { !$0.needsConnection && $0.link?.isOpen == true } ?? 0 }

    func failedToOpen(_ user: VirtualUser, _ failure: Failure, words: String, _ report: ExchangeReport) {
        guard sockets?.whenClosed == nil else { return }
        guard worker.hasTime() || worker.drain() else { return worker.stop() }
        if report.timings.requestStart != nil {
            worker.noteRetry(report)
            worker.noteBytes(report)
        }
        refused(user, failure, words: words)
    }

    private func refused(_ user: VirtualUser, _ failure: Failure, words: String) {
        let now = worker.sinceBegin(worker.loop.now)
        worker.metrics.connectionFailed(failure, at: now, example: "\(plan.url): \(words)")
        // As with requests, a failed connection uses up one message of a run by count, and refuses one that is due if
        // no WebSocket is open.
        spend()
        if plan.options.profile != nil, sockets?.open == 0, backlog.take() != nil {
            worker.metrics.add(to: .refused, of: .schedule)
        }
        reopen(user, afterFailure: true)
    }

    /// Has the user's next WebSocket opened as soon as the pacer allows.
    private func reopen(_ user: VirtualUser, afterFailure: Bool = false) {
        user.needsConnection = true
        sockets?.unopened.append(user)
        if worker.isDraining {
            if worker.running == 0, plan.options.profile == nil || sockets?.open == 0 { worker.stop() }
            return
        }
        if afterFailure { worker.pacer.failed(at: worker.sinceBegin(worker.loop.now)) }
        worker.pacer.add()
        worker.connect()
    }

    // MARK: Messages

    func say(_ user: VirtualUser) {
        guard let sockets, let link = user.link else { return }
        // The user's connection has ended while the user slept.
        guard link.isOpen else {
            if plan.options.profile == nil {
                worker.budget? += 1
            } else if user.due >= since {
                worker.metrics.unsent(age: worker.nanoseconds(from: user.due, to: worker.loop.now))
            }
            return reopen(user)
        }
        let message =
            sockets.fixed ?? UserSockets.message(render(sockets.message, for: user), sockets.options)
        worker.running += 1
        (user.isTalking, user.messages) = (true, user.messages + 1)
        user.said = worker.loop.now
        user.saying = sockets.options.expectsEcho ? message : nil
        worker.metrics.wrote(wireBytes: 0, bodyBytes: UInt64(message.count))
        link.send(message, limit: plan.options.timeout) { [unowned self, unowned user] in user.said = worker.loop.now }
    }

    func heard(_ user: VirtualUser, _ message: WebSocketMessage) {
        guard sockets?.whenClosed == nil else { return }
        guard user.isTalking else {
            noteBytes(user)
            worker.metrics.add(UInt64(message.count), to: .bodyBytesIn)
            return worker.metrics.add(to: .pushed, of: .webSocket)
        }
        guard worker.hasTime() || worker.drain() else { return worker.stop() }
        user.link?.stopWaiting()
        let end = worker.loop.now
        let latency = endMessage(user, until: end)
        worker.metrics.add(UInt64(message.count), to: .bodyBytesIn)
        if latency > plan.options.timeout {
            fail(user, Failure(.message, .timeout), words: "answered after \(timeText(latency))", latency, end)
            return giveUp(user)
        }
        if let problem = problem(with: message, of: user) {
            let failure = Failure(.check, .unexpected, detail: problem)
            fail(user, failure, words: "the answer is not as expected: \(problem)", latency, end)
        } else {
            worker.metrics.answered(after: latency)
            if worker.isDraining {
                worker.metrics.drained(isSuccess: true)
            } else if isOfWarmUp(user) {
                worker.metrics.add(to: .followUps)
            }
            noteCorrected(user, until: end)
            worker.logRequest(nil, user, from: user.said, latency)
        }
        guard let most = plan.messagesPerSocket, user.messages >= most else { return free(user) }
        if plan.options.limits.resets || plan.options.reuse == .rst { giveUp(user) } else { user.link?.close() }
    }

    private func problem(with message: WebSocketMessage, of user: VirtualUser) -> String? {
        if let saying = user.saying, saying != message { return "the echo" }
        guard let search = plan.options.checks.body else { return nil }
        var matched = 0
        switch message {
        case .text(let text): search.advance(&matched, over: text.utf8Span.span)
        case .binary(let bytes): search.advance(&matched, over: bytes.span)
        }
        return search.isFound(matched) ? nil : "body"
    }

    func timedOut(_ user: VirtualUser) {
        guard sockets?.whenClosed == nil, user.isTalking else { return }
        guard worker.hasTime() || worker.drain() else { return worker.stop() }
        let now = worker.loop.now
        let latency = endMessage(user, until: now)
        fail(user, Failure(.message, .timeout), words: "no answer after \(timeText(latency))", latency, now)
        giveUp(user)
    }

    /// Called when the server has ended a WebSocket, or when the closing handshake that was begun here is over.
    func ended(_ user: VirtualUser, _ ending: WebSocketEnding) {
        sockets?.open -= 1
        if let whenClosed = sockets?.whenClosed {
            if sockets?.open == 0 { whenClosed() }
            return
        }
        guard worker.hasTime() || worker.drain() else { return worker.stop() }
        noteBytes(user)
        if user.isTalking {
            let now = worker.loop.now
            let latency = endMessage(user, until: now)
            fail(user, Failure(ending), words: Self.words(ending), latency, now)
        } else if user.link?.isClosing != true {
            worker.metrics.add(to: .socketsDropped, of: .webSocket)
            // A user that sleeps notices this in `say` when it wakes.
            guard resting.remove(user) else { return }
        }
        reopen(user)
    }

    private static func words(_ ending: WebSocketEnding) -> String {
        switch ending {
        case .success(let reason):
            "the server closed: \(reason.code.map { "\($0)" } ?? "no code") \(oneLine(reason.text))"
        case .failure(let failure): "\(failure)"
        }
    }

    /// Counts the end of a message, with an answer or without. Returns the time since the message was sent.
    private func endMessage(_ user: VirtualUser, until end: Instant) -> UInt64 {
        worker.running -= 1
        user.isTalking = false
        worker.metrics.sent()
        noteBytes(user)
        if user.due >= since {
            worker.metrics.record(worker.nanoseconds(from: user.due, to: user.said), as: .wait, of: .schedule)
        }
        return worker.nanoseconds(from: user.said, to: end)
    }

    private func fail(_ user: VirtualUser, _ failure: Failure, words: String, _ latency: UInt64, _ end: Instant) {
        if failure.kind == .timeout { noteCorrected(user, until: end) }
        worker.countFailure(failure, nil, user, from: user.said, latency, "\(plan.url): \(words)")
    }

    /// Ends a WebSocket at once, for example because its next message could be the late answer.
    private func giveUp(_ user: VirtualUser) {
        user.link?.abort()
        sockets?.open -= 1
        reopen(user)
    }

    private func noteBytes(_ user: VirtualUser) {
        guard let bytes = user.link?.takeBytes() else { return }
        worker.metrics.read(wireBytes: bytes.received)
        worker.metrics.wrote(wireBytes: bytes.sent, bodyBytes: 0)
    }

    // MARK: The end

    func noteUnansweredMessages() {
        let now = worker.loop.now
        for user in sockets?.users ?? [] where user.isTalking {
            user.link?.stopWaiting()
            _ = endMessage(user, until: now)
            noteCorrected(user, until: now)
        }
    }

    /// Closes all WebSockets, each by a closing handshake, and calls `done` when that is over.
    func closeSockets(then done: @escaping () -> Void) {
        let users = sockets?.users ?? []
        let isNoneOpen = sockets?.open == 0
        sockets?.whenClosed =
            isNoneOpen
            ? {}
            : { [unowned self] in
                sockets?.whenClosed = {}
                for user in users { user.link?.abort() }
                done()
            }
        if isNoneOpen { return done() }
        for user in users { user.link?.close() }
    }
}

extension WebSocketMessage {
    fileprivate var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

/// The WebSockets of a thread's virtual users: which users have none, and how many must still be closed at the end.
struct UserSockets {
    let options: WebSocketOptions
    let message: Template
    /// The finished message. Nil if ``message`` has places to fill in.
    let fixed: WebSocketMessage?
    let users: [VirtualUser]
    /// Users whose WebSocket is neither open nor being opened.
    var unopened: [VirtualUser]
    /// WebSockets that are open, or being closed.
    var open = 0
    /// Called when the last WebSocket has been closed, after the run's end. Once this is set, nothing is counted.
    var whenClosed: (() -> Void)?

    init(_ options: WebSocketOptions, _ slots: TemplateSlots, _ users: [VirtualUser]) {
        self.options = options
        message = slots.template(options.message)
        fixed = message.isFixed ? Self.message(options.message, options) : nil
        self.users = users
        unopened = users.reversed()
    }

    static func message(_ bytes: [UInt8], _ options: WebSocketOptions) -> WebSocketMessage {
        options.isBinary ? .binary(bytes) : .text(String(decoding: bytes, as: UTF8.self))
    }
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
    /// The user, who may open, send or close from within every call.
    private unowned let user: VirtualUser
    private var state = State.closed
    /// The connection's counts at the last call of ``takeBytes()``.
    private var counted: (received: UInt64, sent: UInt64) = (0, 0)
    private var timer: TimerID?
    /// The last connection, until its server has closed the transport.
    private var former: WebSocketConnection?

    init(on loop: EventLoop, of user: VirtualUser) { (self.loop, self.user) = (loop, user) }

    var isOpen: Bool { if case .open = state { true } else { false } }
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

    private var connection: WebSocketConnection? {
        switch state {
        case .open(let connection), .closing(let connection): connection
        case .closed, .opening: former
        }
    }

    /// Returns the bytes received and sent since the last call, including the heads of frames.
    func takeBytes() -> (received: UInt64, sent: UInt64) {
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

    /// Ends the WebSocket at once, by RST. The user gets no call for this.
    func abort() {
        stopWaiting()
        connection?.abort()
        (state, former) = (.closed, nil)
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
        options.maximumMessageSize = largestFile
        options.closeTimeout = Self.closeTimeout
        let connection = WebSocketConnection(upgraded, agreement, options: options, delegate: self)
        state = .open(connection)
        connection.start()
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        switch (state, outcome) {
        case (.open, _): user.driver.opened(user, report)
        case (.opening, .completed):
            state = .closed
            guard let status = report.status, status != 101 else {
                let failure = Failure(.upgrade, .malformed, detail: "handshake")
                return user.driver.failedToOpen(user, failure, words: "the answer does not fit the handshake", report)
            }
            let failure = Failure(.upgrade, .upgradeRefused, detail: "status \(status)")
            user.driver.failedToOpen(user, failure, words: "status \(status)", report)
        case (.opening, .failed(let error)):
            state = .closed
            let failure = Failure(error, report)
            let isSent = report.timings.requestStart != nil
            user.driver.failedToOpen(
                user,
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
        if case .open = state { user.driver.heard(user, message) }
    }

    func webSocket(_ connection: WebSocketConnection, didReceivePong payload: [UInt8]) {}

    func webSocket(_ connection: WebSocketConnection, didEnd ending: WebSocketEnding) {
        switch state {
        case .closed, .opening: return
        case .open, .closing: break
        }
        stopWaiting()
        (state, former) = (.closed, connection)
        user.driver.ended(user, ending)
    }
}

extension WebSocketLink: TimerHandler {
    func timerFired(_ id: TimerID) {
        guard id == timer else { return }
        timer = nil
        user.driver.timedOut(user)
    }
}

extension Failure {
    /// The reason why a message on a WebSocket gets no answer.
    init(_ ending: WebSocketEnding) {
        switch ending {
        case .success(let reason):
            self.init(.message, .closeFrame, detail: reason.code.map { "\($0)" } ?? "without a code")
        case .failure(.violation(let error)): self.init(.message, .malformed, detail: Self.name(of: error))
        case .failure(.lost(.connectionLost(let errno)?)):
            self.init(.message, ended: .closedBeforeAnswer, by: errno)
        case .failure(.lost(nil)): self.init(.message, .closedBeforeAnswer)
        case .failure(.lost(let error?)):
            let failure = Failure(error, nil)
            self.init(.message, failure.kind, errno: failure.errno, detail: failure.detail)
        case .failure(.closeTimedOut): self.init(.message, .timeout)
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
