internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import Synchronization

/// How answers are handled: head, content and end. Sources of every kind come together here.
extension TaskLoader {
    /// Takes the response from the network as the answer.
    func place(_ response: HTTPURLResponse, _ placement: Step.Placement, _ storage: Step.Storage) {
        if let step = attempt.place(response, placement, storage, engine) { return perform(step, nil, nil) }
        accept(response)
    }

    /// Takes a response as the answer although it asked for a redirect or for credentials.
    func deliver(_ response: URLResponse, _ held: Held) {
        if case .source(let source) = held { load(from: source) }
        let before = course.questions
        accept(response)
        guard course.questions == before else { return }
        switch held {
        case .nothing: break
        case .source(let source): goOn(from: source)
        case .complete: end(nil)
        }
    }

    /// Takes the response as the answer.
    private func accept(_ response: URLResponse) {
        // The task's progress shows the response, and observers of the progress may cancel the task.
        task.expect(response)
        guard !course.isEnded else { return }
        if task is URLSessionWebSocketTask { return end(WebSocketOpening.refusal(response, task.originalRequest?.url)) }
        do throws(URLError) {
            try delivery.begin(response, attempt, onRoom: onRoom)
        } catch {
            return end(error)
        }
        if delivery.asksForDisposition { askForDisposition(response) }
    }

    func receive(_ bytes: Span<UInt8>) {
        let length = Int64(bytes.count)
        let counts = task.count { $0.received += length }
        if case .stream(let stream) = delivery.sink { return stream.receive(bytes) }
        switch delivery.receive(bytes, counts, seeing: { attempt.storing?.append($0) }) {
        case .taken: break
        case .channelIsFull: fallBehind()
        case .userIsBehind: waitForUser()
        case .failed(let error): end(error)
        }
    }

    func finished() {
        if !completeBehindQuestion() { complete() }
    }

    /// Handles the end of an answer while no question is open. The task ends now, unless a stream task still reads the
    /// answer, or the delegate decides whether it is stored.
    func complete() {
        if case .stream(let stream) = delivery.sink {
            load(from: .stream(stream))
            return stream.answerEnded()
        }
        delivery.tellGathered()
        guard let cache = settings.cache, let (cached, key) = attempt.takeEntry(delivery.sink, engine) else {
            return end(nil)
        }
        let dataTask = task as? URLSessionDataTask
        guard let dataTask, delivery.isAskedAboutCaching else {
            cache.keep(cached, for: key, by: dataTask)
            return end(nil)
        }
        ask(.caching, otherwise: cached, UserQuestion.caching(of: dataTask, cached)) { [self] answer, _ in
            if let answer { cache.keep(cached.record.map(answer.with) ?? answer, for: key, by: dataTask) }
            end(nil)
        }
    }

    // MARK: A switch of protocols

    /// The server has switched protocols for a task that is no WebSocket: the 101 is the answer, and the connection
    /// belongs to the stream task that the delegate may make of it.
    func becomeConnection(_ connection: UpgradedConnection) {
        guard let response = attempt.switched(attempt.request.url) else { return connection.close() }
        attempt.noteSwitch(response, task, engine)
        storeCookies(ofSwitch: response)
        let origin = attempt.transaction?.place.origin
        load(from: .stream(StreamLoad(self, engine, on: connection, to: origin)))
        let before = course.questions
        accept(response)
        // A delegate that is not asked cannot take the connection.
        if course.questions == before { end(nil) }
    }

    func openSocket(_ connection: UpgradedConnection, _ task: URLSessionWebSocketTask) {
        guard let opening = attempt.opening, let head = attempt.switching,
            let response = attempt.switched(task.currentRequest?.url ?? task.originalRequest?.url)
        else { return connection.close() }
        task.response = response
        do throws(URLError) {
            let agreement = try opening.agreement(head, task.originalRequest?.url)
            attempt.noteSwitch(response, task, engine)
            storeCookies(ofSwitch: response)
            let socket = WebSocketLoad(self, task.channel, on: engine.loop)
            load(from: .socket(socket))
            // The session's limit, 60 seconds by default, would end every WebSocket on which no message comes for a
            // minute.
            let limit = attempt.request.values.explicitTimeout.flatMap(RequestBuilder.duration)
            socket.begin(connection, agreement, silentFor: limit, delivery.callbacks)
            updateFlow()
        } catch {
            connection.close()
            end(error)
        }
    }
}

/// Receives what a source other than the network reports.
extension TaskLoader: StreamLoadDelegate, ProtocolLoadDelegate {
    func received(_ response: URLResponse) {
        attempt.response = response
        accept(response)
    }

    func received(_ response: URLResponse, _ policy: URLCache.StoragePolicy) {
        attempt.store(policy, delivery.isStorable ? settings.cache : nil)
        received(response)
    }

    func loadItself(_ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        load.stop()
        start()
        // The task may have been suspended while the classes were asked.
        whenRunning { [self] in loadItself() }
    }

    func classFinished(_ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        guard attempt.response != nil else {
            let reason = "the protocol class finished without a response"
            return end(.badServerResponse, attempt.request.url, reason)
        }
        finished()
        load.stop()
    }

    func classRedirected(to next: URLRequest, _ response: URLResponse, _ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        guard attempt.machine.mayRedirect else { return perform(.fail(.tooManyRedirects), nil, nil) }
        if let http = response as? HTTPURLResponse { return askToFollow(next, http) }
        // A delegate's method needs an HTTP response, so it is not asked. The limit above ends a circle of redirects.
        follow(next, .source(.classLoad(load)))
    }

    func classChallenged(_ challenge: URLAuthenticationChallenge, _ load: ProtocolLoad) {
        guard course.isCurrent(load), let sender = challenge.sender else { return }
        ask(.challenge, otherwise: (.performDefaultHandling, nil), UserQuestion.challenge(challenge)) {
            [self] answer, held in
            goOn(held)
            sender.pass(on: answer, to: challenge)
            if answer.disposition == .cancelAuthenticationChallenge { cancel(.atOnce) }
        }
    }
}

/// Receives what the engine reports of the exchange under way.
extension TaskLoader: ExchangeDelegate {
    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        guard let url = attempt.request.url else { return }
        guard head.status >= 200 else { return informed(head, url) }
        let response = attempt.answered(head, url, settings)
        guard let storage = settings.cookieSubclass else { return judge(response) }
        let cookies = attempt.cookies(of: response, settings)
        guard !cookies.isEmpty else { return judge(response) }
        attempt.response = response
        storeCookies(cookies, in: storage) { [self] in judge(response) }
    }

    private func judge(_ response: HTTPURLResponse) {
        let caching: AskedRequest.Caching = settings.cache == nil ? .none : delivery.isStorable ? .stores : .compares
        guard let step = attempt.judge(response, caching, task, engine) else { return accept(response) }
        perform(step, response, nil)
    }

    private func informed(_ head: ResponseHead, _ url: URL) {
        if head.status == 101 { attempt.switching = head }
        attempt.noteResource(head, url, task, background)
        // 100 and 101 concern the connection.
        guard head.status > 101 else { return }
        if !delivery.tellInformational({ HTTPURLResponse(url: url, head: head) }) { waitForUser() }
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        switch course.phase {
        case .draining: drained(bytes.count, of: id)
        case .loading, .asking: receive(bytes)
        case .new, .starting, .ended: break
        }
    }

    func exchange(_ id: ExchangeID, didSend count: Int) {
        let sent = attempt.noteSent(count)
        delivery.tellSent(count, task.count { $0.sent = sent })
    }

    func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart { attempt.content.part(at: offset) }

    func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection) {
        guard case .exchange(id) = course.source else { return connection.close() }
        guard let task = task as? URLSessionWebSocketTask else { return becomeConnection(connection) }
        openSocket(connection, task)
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        record?.note(attempt.request, report, attempt.response)
        observation?.note(report)
        if finishDraining(id) { return }
        guard course.isCurrent(id) else { return }
        switch outcome {
        case .completed: finished()
        case .failed(let error): failed(error, report)
        }
    }

    private func failed(_ error: EngineError, _ report: ExchangeReport) {
        // A request is not repeated if its response was already reported, or if the server has answered its content.
        let mayRepeat = background?.record(of: task) != nil && !(task is URLSessionUploadTask && task.response != nil)
        let hasOwnProxies = spec.request?.values.terms?.values.proxies != nil
        if !hasOwnProxies, attempt.failOver(error, engine) {
            observation?.note(.sendsAgain)
            start()
            return transact()
        }
        // The credentials of a request's own proxy come with the request: the user is not asked for others.
        let proxies = hasOwnProxies ? .direct : attempt.proxies(engine)
        let step = attempt.machine.fail(AnswerFailure(error, report, attempt, proxies, mayRepeat: mayRepeat))
        if let next = attempt.uploadStep(after: error, step) {
            start()
            return goOnUploading(next)
        }
        if case .fail(.failure) = step { return end(ErrorTranslation.error(error, attempt.request.url)) }
        start()
        perform(step, nil, .nothing)
    }
}
