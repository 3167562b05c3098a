internal import URLLoading

/// A request from its building to its response: attempts, and what interceptors make of their failures.
final class TransferRun<Serializer: ResponseSerializer>: Sendable {
    private let manager: URLSessionManager
    let settings: ManagerCore.Snapshot
    let control: TransferControl
    private let request: HTTPRequest?
    private let steps: AttemptSteps
    private let serializer: Serializer
    private let destination: DownloadDestination?
    private let plan: @Sendable (ManagerCore.Snapshot) throws(UncurlError) -> TaskPlan

    /// With the manager's settings as they are now.
    ///
    /// - Parameter plan: makes each attempt's plan anew.
    init(
        _ manager: URLSessionManager,
        _ request: HTTPRequest?,
        _ options: RequestOptions,
        _ serializer: Serializer,
        to destination: DownloadDestination? = nil,
        plan: @escaping @Sendable (ManagerCore.Snapshot) throws(UncurlError) -> TaskPlan
    ) {
        let settings = manager.core.settings
        let control = TransferControl(settings.monitors)
        self.manager = manager
        self.settings = settings
        self.control = control
        self.request = request
        steps = AttemptSteps(settings: settings, options: options, control: control)
        self.serializer = serializer
        self.destination = destination
        self.plan = plan
    }

    func response() async -> Response<Serializer.Value> {
        control.watchers.tell(.began(request))
        await control.ready()
        var retryCount = 0
        var resumption: Data?
        while true {
            let response = await attempt(retryCount, resumption)
            guard let error = response.error, !control.isCancelled else { return ended(response) }
            let failure = FailedAttempt(
                attempt: RequestAttempt(transfer: control.identifier, retryCount: retryCount),
                request: response.request,
                response: response.response,
                data: response.data,
                error: error,
                isReplayable: request?.body.isReplayable ?? true
            )
            switch await steps.next(after: failure) {
            case .end(let error): return ended(response.failing(error))
            case .again:
                resumption = response.resumeData
                retryCount += 1
            }
        }
    }

    private func ended(_ response: Response<Serializer.Value>) -> Response<Serializer.Value> {
        control.finish(response.statusCode, response.error, retryCount: response.retryCount)
        return response
    }

    private func attempt(_ retryCount: Int, _ resumption: Data?) async -> Response<Serializer.Value> {
        let making = ResponseMaking(
            serializer: serializer,
            validation: steps.options.validation,
            retryCount: retryCount
        )
        var built: URLRequest?
        do throws(UncurlError) {
            guard !control.isCancelled else { throw .cancelled }
            guard !manager.isInvalid else { throw .sessionInvalidated }
            var plan = try self.plan(settings)
            built = plan.request
            if let request = plan.request {
                control.watchers.tell(.built(request))
                plan.request = try await steps.adapted(request, retryCount)
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

    private func send(
        _ plan: TaskPlan,
        _ making: ResponseMaking<Serializer>
    ) async -> Response<Serializer.Value> {
        let delegate = manager.delegate(for: plan)
        let session = manager.session
        let outcome = await unsafe withUnsafeContinuation { continuation in
            let task = manager.task(plan, delegate, collectsMetrics: settings.collectsMetrics, wakesWaiter: true) {
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
            reason: delegate.reason(for: outcome.error, outcome.task.currentRequest?.url?.host),
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
        let (move, destination) = (DownloadMove(core: manager.core, task: task), destination)
        return await unsafe withUnsafeContinuation { continuation in
            session.delegateQueue.addOperation {
                unsafe continuation.resume(returning: move.run(file, outcome.response, session, destination))
            }
        }
    }
}
