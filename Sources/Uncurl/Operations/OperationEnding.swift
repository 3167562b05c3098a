internal import Dispatch
internal import Synchronization
internal import URLLoading

/// The steps from the end of a task to the end of its operation: what follows a failed attempt, then the handlers, the
/// notification and the operations that wait for the task.
extension HTTPRequestOperation {
    /// The failure of an answer that is too long for memory.
    var excess: UncurlError {
        let words =
            "The answer is longer than the \(limit) bytes that an operation keeps in memory; maximumDataLength of "
            + "URLSessionConfiguration, URLRequest and RequestOptions sets the limit, and an output stream has none."
        return .transport(URLError(.dataLengthExceedsMaximum, userInfo: [NSLocalizedDescriptionKey: words]))
    }

    /// Runs on the session's delegate queue, since it calls the program's code.
    func ended(_ outcome: TaskOutcome, _ delegate: TaskDelegate, _ session: URLSession) {
        session.tellEnd(of: outcome.task, outcome.error, manager.core, delegate)
        outcome.settle?(true)
        outcome.hold?.end()
        let next = facts.withLock { facts -> (isPause: Bool, begins: Bool)? in
            let isPause = if case .pausing = facts.state { true } else { false }
            // The task may have ended before the pause stopped it.
            guard facts.asksAgain || isPause && outcome.error?.code == .cancelled, facts.failure == nil, !isCancelled
            else { return nil }
            facts.asksAgain = false
            return (isPause, facts.state.goOn())
        }
        control.watchers.tell(.completedTask(outcome.task, outcome.error))
        if let metrics = outcome.metrics { control.watchers.tell(.collectedMetrics(metrics)) }
        if let next {
            if next.isPause { manager.core.post(TaskNotification.operationDidFinish, self) }
            delegate.open()
            return next.begins ? begin() : ()
        }
        let data = sink.withLock { $0?.data ?? Data() }
        let (failure, head) = facts.withLock { ($0.failure, $0.response) }
        // All of the answer may have come before the sink's failure could stop it.
        let error = failure == nil ? outcome.error : outcome.error ?? URLError(.cannotWriteToFile)
        let whole = TaskOutcome(outcome, data: data, response: head, error: error)
        let all = whole.response(
            by: serializer,
            validation: options.validation(else: serializer.validation, manager.redirects),
            reason: failure ?? delegate.reason(for: error, of: outcome.task),
            download: nil,
            retryCount: facts.withLock { $0.retryCount }
        )
        delegate.note(all)
        let made = Response<any Sendable>(all)
        control.watchers.tell(.serialized(statusCode: made.statusCode, made.error))
        let tell: @Sendable (Response<any Sendable>) -> Void = { [self] response in
            manager.core.postCompletion(outcome.task, response.facts, serializer)
            delegate.open()
        }
        let steps = AttemptSteps(manager.core.settings, options.interceptors, control)
        guard made.error != nil, failure == nil, !steps.isEmpty else { return finish(made, delegate, tell) }
        if isCancelled { return finish(made.failing(.cancelled), delegate, tell) }
        Task { await decide(on: made, of: outcome.task.originalRequest, steps, delegate, tell) }
    }

    /// Asks the interceptors what follows a failed attempt.
    ///
    /// - Parameters:
    ///   - response: the response of the attempt.
    ///   - sent: the request of the attempt, before any redirect.
    ///   - steps: the interceptors.
    ///   - delegate: the delegate of the attempt's task, if it had one.
    ///   - tell: reports the end of that task.
    func decide(
        on response: Response<any Sendable>,
        of sent: URLRequest?,
        _ steps: AttemptSteps,
        _ delegate: TaskDelegate? = nil,
        _ tell: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) async {
        guard let error = response.error else { return finish(response, delegate, tell) }
        let failed = FailedAttempt(
            attempt: RequestAttempt(transfer: control.identifier, retryCount: response.retryCount),
            request: sent,
            response: response.response,
            data: response.data,
            error: error,
            isReplayable: request.isReplayable && mayFollow(error)
        )
        switch await steps.next(after: failed, of: HTTPRequest(request)) {
        case .end(let error): finish(response.failing(error), delegate, tell)
        case .again:
            tell(response)
            guard goesOn(behind: error) else { return finish(response) }
            let begins = facts.withLock { facts -> Bool? in
                // The cancel did not find a paused operation, so nothing else would end it.
                if isCancelled { return nil }
                facts.retryCount += 1
                return facts.state.goOn()
            }
            guard let begins else { return finish(cancelled) }
            if begins { begin() }
        }
    }

    var cancelled: Response<any Sendable> {
        Response(ResponseFacts(failing: .cancelled, request))
    }

    /// - Parameters:
    ///   - given: the response; the deadline may replace its failure.
    ///   - delegate: the delegate of the last attempt's task, if it had one.
    ///   - tell: reports the end of that task. Called after the handlers, on the completion queue.
    func finish(
        _ given: Response<any Sendable>,
        _ delegate: TaskDelegate? = nil,
        _ tell: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) {
        let response = given.error.map { given.failing(control.reason(for: $0)) } ?? given
        if response.error != nil { delegate?.note(response.facts) }
        // An operation that is cancelled during its start may end twice. The queue must see one end only.
        let isFirst = facts.withLock { facts in
            defer { facts.isEnding = true }
            return !facts.isEnding
        }
        guard isFirst else { return tell(response) }
        control.finish(response.statusCode, response.error, retryCount: response.retryCount)
        sink.withLock { $0?.close() }
        let handlers = changing(\.isFinished) {
            changing(\.isExecuting) {
                facts.withLock { facts in
                    facts.state = .finished
                    facts.result = response
                    defer { facts.handlers = [] }
                    return facts.handlers
                }
            }
        }
        call(handlers, response, isEnd: true) { tell(response) }
    }

    func call(
        _ handlers: [@Sendable (Response<any Sendable>) -> Void],
        _ response: Response<any Sendable>,
        isEnd: Bool = false,
        then: @escaping @Sendable () -> Void = {}
    ) {
        let group = manager.completionGroup ?? ManagerCore.sharedGroup
        (manager.completionQueue ?? manager.core.ownQueue).async(group: group) { [self] in
            for handler in handlers { handler(response) }
            if isEnd { manager.core.post(TaskNotification.operationDidFinish, self) }
            then()
        }
    }
}
