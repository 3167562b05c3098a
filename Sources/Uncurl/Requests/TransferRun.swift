internal import URLLoading

/// A request from its building to its response: attempts, and what interceptors make of their failures.
struct TransferRun<Serializer: ResponseSerializer>: Sendable {
    let manager: URLSessionManager
    let settings: ManagerCore.Settings
    let control: TransferControl
    let request: HTTPRequest?
    let options: RequestOptions
    let serializer: Serializer
    var destination: DownloadDestination?
    /// Makes the first attempt's plan, and those of later ones.
    let plan: @Sendable () throws(UncurlError) -> TaskPlan

    func response() async -> Response<Serializer.Value> {
        control.watchers.tell(.began(request))
        await control.ready()
        var retryCount = 0
        var resumption: Data?
        while true {
            let response = await attempt(retryCount, resumption)
            guard let error = response.error, !control.isCancelled else { return ended(response) }
            switch await decision(error, response, retryCount) {
            case .doNotRetry: return ended(response)
            case .doNotRetryWithError(let other):
                let making = ResponseMaking(serializer: serializer, retryCount: retryCount)
                return ended(making.response(response, failing: .retry(other, original: error)))
            case .retry: control.watchers.tell(.retries(after: .zero, error))
            case .retryAfter(let delay):
                control.watchers.tell(.retries(after: delay, error))
                await control.wait(for: delay, on: settings.clock)
            }
            await control.ready()
            resumption = response.resumeData
            retryCount += 1
        }
    }

    private func ended(_ response: Response<Serializer.Value>) -> Response<Serializer.Value> {
        control.finish()
        control.watchers.tell(
            .finished(statusCode: response.statusCode, response.error, retryCount: response.retryCount)
        )
        return response
    }

    private func attempt(_ retryCount: Int, _ resumption: Data?) async -> Response<Serializer.Value> {
        let making = ResponseMaking(
            serializer: serializer,
            validation: options.validation,
            retryCount: retryCount
        )
        var built: URLRequest?
        do throws(UncurlError) {
            guard !control.isCancelled else { throw .cancelled }
            guard !manager.isInvalid else { throw .sessionInvalidated }
            var plan = try self.plan()
            built = plan.request
            if let request = plan.request {
                control.watchers.tell(.built(request))
                plan.request = try await adapted(request, retryCount)
                built = plan.request
            }
            if let resumption { plan.kind = .resumedDownload(resumption) }
            return await send(plan, making)
        } catch {
            let response = making.response(failing: error, built)
            control.watchers.tell(.serialized(statusCode: nil, error))
            return response
        }
    }

    private func adapted(_ request: URLRequest, _ retryCount: Int) async throws(UncurlError) -> URLRequest {
        guard !settings.interceptors.isEmpty || !options.interceptors.isEmpty else { return request }
        let attempt = RequestAttempt(transfer: control.identifier, retryCount: retryCount)
        var request = request
        do {
            for interceptor in settings.interceptors + options.interceptors {
                request = try await interceptor.adapt(request, for: attempt)
            }
        } catch {
            throw .adaptation(error)
        }
        control.watchers.tell(.adapted(request))
        return request
    }

    private func send(
        _ plan: TaskPlan,
        _ making: ResponseMaking<Serializer>
    ) async -> Response<Serializer.Value> {
        let delegate = manager.delegate(for: plan)
        let session = manager.session
        let outcome = await withUnsafeContinuation { continuation in
            let task = manager.task(plan, delegate, collectsMetrics: settings.collectsMetrics) {
                unsafe continuation.resume(returning: $0)
            }
            control.watchers.tell(.createdTask(task))
            control.begin(task)
        }
        session.tellEnd(of: outcome.task, outcome.error, manager.core, delegate)
        control.watchers.tell(.completedTask(outcome.task, outcome.error))
        if let metrics = outcome.metrics { control.watchers.tell(.collectedMetrics(metrics)) }
        var moved: Result<URL, UncurlError>?
        if let file = outcome.file, let task = outcome.task as? URLSessionDownloadTask {
            moved = await move(file, outcome, task, session)
        }
        let response = making.response(
            to: outcome,
            challenge: delegate.challengeError,
            trust: outcome.error == nil ? nil : manager.core.failure(of: outcome.task.currentRequest?.url?.host),
            moved: moved
        )
        control.watchers.tell(.serialized(statusCode: response.statusCode, response.error))
        manager.core.postCompletion(outcome.task, response, serializer)
        delegate.open()
        return response
    }

    private func move(
        _ file: URL,
        _ outcome: TaskOutcome,
        _ task: URLSessionDownloadTask,
        _ session: URLSession
    ) async -> Result<URL, UncurlError> {
        let move = DownloadMove(core: manager.core, task: task)
        return await withUnsafeContinuation { continuation in
            session.delegateQueue.addOperation {
                unsafe continuation.resume(returning: move.run(file, outcome.response, session, destination))
            }
        }
    }

    private func decision(
        _ error: UncurlError,
        _ response: Response<Serializer.Value>,
        _ retryCount: Int
    ) async -> RetryDecision {
        guard !settings.interceptors.isEmpty || !options.interceptors.isEmpty else { return .doNotRetry }
        let failure = FailedAttempt(
            attempt: RequestAttempt(transfer: control.identifier, retryCount: retryCount),
            request: response.request,
            response: response.response,
            data: response.data,
            error: error,
            isReplayable: request?.body.isReplayable ?? true
        )
        for interceptor in settings.interceptors + options.interceptors {
            let decision = await interceptor.retry(failure)
            if case .doNotRetry = decision { continue }
            return decision
        }
        return .doNotRetry
    }
}
