internal import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics
internal import UncurlTLS

/// Receives what the engine reports of the exchange under way.
extension RequestLoader: ExchangeDelegate {
    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        guard let url = attempt.request.url else { return }
        guard head.status >= 200 else { return informed(head, url) }
        let response = attempt.answered(head, url, settings)
        // What the cache does with the answer depends on the user that the connection has shown.
        if settings.cache != nil, let security = engine.engine.connectionRecord(of: id)?.security {
            attempt.transaction?.identity = security.shownIdentity
        }
        guard let storage = settings.cookieSubclass else { return judge(response) }
        let cookies = attempt.cookies(of: response, settings)
        guard !cookies.isEmpty else { return judge(response) }
        attempt.response = response
        store(cookies, in: storage, for: task) { [self] in judge(response) }
    }

    private func judge(_ response: HTTPURLResponse) {
        guard let step = attempt.judge(response, caching, task, engine) else { return accept(response) }
        perform(step, response, nil)
    }

    /// What the cache makes of the answer. The answer of one of several servers says nothing about what is stored under
    /// the URL. An answer that depends on the request's content is not stored.
    private var caching: AskedRequest.Caching {
        guard settings.cache != nil, spec.request?.values.terms?.values.endpoint == nil, !attempt.isExcused(engine)
        else {
            return .none
        }
        return delivery.isStorable && !attempt.request.values.sendsContentWithGET ? .stores : .compares
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
        case .loading: receive(bytes)
        case .asking: keep(bytes)
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
        switchProtocols(to: connection)
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        note(report)
        if finishDraining(id) { return }
        guard course.isCurrent(id) else { return }
        switch outcome {
        case .completed: finished()
        // A question whose answer leaves this one does not matter to it. A time limit ends a question too.
        case .failed(let error):
            if case .timedOut = error { return failed(error, report) }
            if !endBehindQuestion({ [self] in failed(error, report) }) { failed(error, report) }
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
        // The credentials of a request's own proxy come with the request: the delegate is not asked for others.
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
