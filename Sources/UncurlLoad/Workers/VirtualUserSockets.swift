import UncurlEngine
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
        let (factory, request) = (worker.requests.factory, plan.request)
        do throws(EngineError) {
            try user.link?.open(worker.engine) { handshake throws(EngineError) in
                try EngineRequest(
                    webSocket: handshake,
                    origin: factory.origin,
                    target: request.target,
                    fields: try PlannedRequest.fields(request.fields.map { ($0.name, Array($0.value.utf8)) }),
                    options: factory.options(forOwn: request.host)
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
        guard span <= plan.timeout else {
            user.link?.abort()
            sockets?.open -= 1
            return refused(user, Failure(.upgrade, .timeout), words: "opened after \(Units.time(span))")
        }
        worker.metrics.opened(after: span)
        user.messages = 0
        user.needsConnection = false
        if plan.profile == nil, !worker.isDraining { startNext(user) } else { free(user) }
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
        if plan.profile != nil, sockets?.open == 0, refuseDue() { worker.metrics.refused() }
        reopen(user, afterFailure: true)
    }

    /// Has the user's next WebSocket opened as soon as the pacer allows.
    private func reopen(_ user: VirtualUser, afterFailure: Bool = false) {
        user.needsConnection = true
        sockets?.unopened.append(user)
        if worker.isDraining {
            if worker.running == 0, plan.profile == nil || sockets?.open == 0 { worker.stop() }
            return
        }
        if afterFailure { worker.pacer.failed(at: worker.sinceBegin(worker.loop.now)) }
        worker.pacer.add()
        worker.connect()
    }

    // MARK: Messages

    /// Sends the user's message.
    func say(_ user: VirtualUser) {
        guard let sockets, let link = user.link else { return }
        // The user's connection has ended while the user slept.
        guard link.isOpen else {
            if plan.profile == nil {
                worker.budget? += 1
            } else if user.due >= since {
                worker.metrics.unsent(age: worker.nanoseconds(from: user.due, to: worker.loop.now))
            }
            return reopen(user)
        }
        let message =
            sockets.fixed ?? UserSockets<VirtualUser>.message(render(sockets.message, for: user), sockets.options)
        worker.running += 1
        (user.isTalking, user.messages) = (true, user.messages + 1)
        user.said = worker.loop.now
        user.saying = sockets.options.expectsEcho ? message : nil
        worker.metrics.wrote(wireBytes: 0, bodyBytes: UInt64(message.count))
        link.send(message, limit: plan.timeout) { [unowned self, unowned user] in user.said = worker.loop.now }
    }

    func heard(_ user: VirtualUser, _ message: WebSocketMessage) {
        guard sockets?.whenClosed == nil else { return }
        guard user.isTalking else {
            noteBytes(user)
            worker.metrics.read(bodyBytes: UInt64(message.count))
            return worker.metrics.pushed()
        }
        guard worker.hasTime() || worker.drain() else { return worker.stop() }
        user.link?.stopWaiting()
        let end = worker.loop.now
        let latency = endMessage(user, until: end)
        worker.metrics.read(bodyBytes: UInt64(message.count))
        if latency > plan.timeout {
            fail(user, Failure(.message, .timeout), words: "answered after \(Units.time(latency))", latency, end)
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
                worker.metrics.followedUp()
            }
            noteCorrected(user, until: end)
            worker.logMessage(nil, user, latency: latency)
        }
        guard let most = plan.messagesPerSocket, user.messages >= most else { return free(user) }
        if plan.limits.resets || plan.reuse == .rst { giveUp(user) } else { user.link?.close() }
    }

    private func problem(with message: WebSocketMessage, of user: VirtualUser) -> String? {
        if let saying = user.saying, saying != message { return "the echo" }
        guard let search = plan.users.checks.body else { return nil }
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
        fail(user, Failure(.message, .timeout), words: "no answer after \(Units.time(latency))", latency, now)
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
            worker.metrics.dropped()
            // A user that sleeps notices this in `say` when it wakes.
            guard resting.remove(user) else { return }
        }
        reopen(user)
    }

    private static func words(_ ending: WebSocketEnding) -> String {
        switch ending {
        case .closed(let reason):
            "the server closed: \(reason.code.map { "\($0)" } ?? "no code") \(oneLine(reason.text))"
        case .failed(let failure): "\(failure)"
        }
    }

    /// Counts the end of a message, with an answer or without. Returns the time since the message was sent.
    private func endMessage(_ user: VirtualUser, until end: Instant) -> UInt64 {
        worker.running -= 1
        user.isTalking = false
        worker.metrics.sent()
        noteBytes(user)
        if user.due >= since { worker.metrics.waited(worker.nanoseconds(from: user.due, to: user.said)) }
        return worker.nanoseconds(from: user.said, to: end)
    }

    private func fail(_ user: VirtualUser, _ failure: Failure, words: String, _ latency: UInt64, _ end: Instant) {
        let time = worker.sinceBegin(end)
        worker.metrics.failed(failure, latency: latency, at: time, example: "\(plan.url): \(words)")
        if failure.kind == .timeout { noteCorrected(user, until: end) }
        worker.logMessage(failure, user, latency: latency)
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

    /// Counts messages without an answer as in flight.
    func noteUnansweredMessages() {
        let now = worker.loop.now
        for user in sockets?.users ?? [] where user.isTalking {
            user.isTalking = false
            user.link?.stopWaiting()
            worker.metrics.sent()
            noteBytes(user)
            if user.due >= since { worker.metrics.waited(worker.nanoseconds(from: user.due, to: user.said)) }
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
    /// Bytes of content.
    fileprivate var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
