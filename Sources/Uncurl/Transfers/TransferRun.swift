internal import URLLoading

/// Takes a request from its building to its response: through its attempts, and through the decisions of interceptors
/// on failures.
///
/// Only what makes the value knows its type: code for any type, that looks up at run time what it works on, costs a
/// small request a tenth of all that it takes.
final class TransferRun: Sendable {
    /// What the request loads.
    enum Kind {
        case answer
        case file
        /// The rest of a file. The request only has options.
        case rest(Data)

        var isWhole: Bool {
            if case .rest = self { false } else { true }
        }
    }

    /// The outcome of an attempt, before a response is made of it.
    private enum Attempt {
        /// It never became a task.
        case refused(UncurlError, URLRequest?)
        case ended(TaskOutcome, TaskDelegate, DownloadedFile?)

        /// Removes the file of a download that is tried again. No caller has learned of it.
        func removeFile() {
            guard case .ended(let outcome, _, let download?) = self, let file = outcome.file else { return }
            if case .placed = download { return }
            try? FileManager.default.removeItem(at: file)
        }
    }

    private let manager: HTTPSessionManager
    let settings: ManagerCore.Snapshot
    let control: TransferControl
    private let kind: Kind
    private let steps: AttemptSteps
    private let destination: DownloadDestination?

    /// With the manager's settings as they are now.
    ///
    /// - Parameter options: the request's.
    init(
        _ manager: HTTPSessionManager,
        _ options: RequestOptions,
        _ kind: Kind = .answer,
        to destination: DownloadDestination? = nil
    ) {
        let settings = manager.core.settings
        let control = TransferControl(settings.monitors)
        self.manager = manager
        self.settings = settings
        self.control = control
        self.kind = kind
        steps = AttemptSteps(settings, options.interceptors, control)
        self.destination = destination
    }

    func response<Serializer: ResponseSerializer>(
        to request: HTTPRequest,
        by serializer: Serializer
    ) async -> Response<Serializer.Value> {
        let serializer = serializer.decoding(by: settings.decoder)
        control.watchers.tell(.began(kind.isWhole ? request : nil))
        if control.state != .resumed { await control.ready() }
        let validation = request.options.validation ?? serializer.validation
        var retryCount = 0
        var resumption: Data?
        while true {
            let attempt = await cancellably { await self.attempt(request, validation, retryCount, resumption) }
            let response = made(of: attempt, serializer, validation, retryCount)
            guard let error = response.error, !control.isCancelled else {
                end(response.facts)
                return response
            }
            let failure = FailedAttempt(
                attempt: RequestAttempt(transfer: control.identifier, retryCount: retryCount),
                request: response.request,
                response: response.response,
                data: response.data,
                error: error,
                isReplayable: request.body.isReplayable
            )
            switch await cancellably({ await steps.next(after: failure) }) {
            case .end(let error):
                let response = response.failing(error)
                end(response.facts)
                return response
            case .again:
                attempt.removeFile()
                resumption = response.resumeData
                retryCount += 1
            }
        }
    }

    /// Awaits a step. Cancelling the Swift task cancels the request. The function is generic over the step alone, so it
    /// is not compiled for each type of value.
    private func cancellably<Made>(_ step: () async -> Made) async -> Made {
        await withTaskCancellationHandler {
            await step()
        } onCancel: {
            control.cancel()
        }
    }

    private func end(_ facts: ResponseFacts) {
        control.finish(facts.response?.statusCode, facts.error, retryCount: facts.retryCount)
    }

    private func made<Serializer: ResponseSerializer>(
        of attempt: Attempt,
        _ serializer: Serializer,
        _ validation: ResponseValidation,
        _ retryCount: Int
    ) -> Response<Serializer.Value> {
        switch attempt {
        case .refused(let error, let request):
            control.watchers.tell(.serialized(statusCode: nil, error))
            return Response(failing: error, request, retryCount: retryCount)
        case .ended(let outcome, let delegate, let download):
            let response = outcome.response(
                by: serializer,
                validation: validation,
                reason: delegate.reason(for: outcome.error, of: outcome.task),
                download: download,
                retryCount: retryCount
            )
            control.watchers.tell(.serialized(statusCode: response.statusCode, response.error))
            manager.core.postCompletion(outcome.task, response, serializer)
            delegate.open()
            return response
        }
    }

    // MARK: Attempts

    private func attempt(
        _ wanted: HTTPRequest,
        _ validation: ResponseValidation,
        _ retryCount: Int,
        _ resumption: Data?
    ) async -> Attempt {
        var built: URLRequest?
        do throws(UncurlError) {
            guard !control.isCancelled else { throw .cancelled }
            guard !manager.isInvalid else { throw .sessionInvalidated }
            var plan = try plan(for: wanted)
            built = plan.request
            if let request = plan.request {
                control.watchers.tell(.built(request))
                if !steps.isEmpty {
                    plan.request = try await steps.adapted(request, retryCount)
                    built = plan.request
                }
            }
            if let resumption { plan.kind = .resumedDownload(resumption) }
            return await send(plan, validation)
        } catch {
            return .refused(error, built)
        }
    }

    private func plan(for request: HTTPRequest) throws(UncurlError) -> TaskPlan {
        switch kind {
        case .answer: return try manager.taskPlan(for: request, settings)
        case .file:
            var plan = try manager.taskPlan(for: request, settings)
            guard case .data = plan.kind else {
                throw .unsupportedContent(reason: "a download sends nothing but parameters")
            }
            plan.kind = .download
            return plan
        case .rest(let data):
            let options = request.options
            return TaskPlan(kind: .resumedDownload(data), behavior: options.behavior(), priority: options.priority)
        }
    }

    private func send(_ plan: TaskPlan, _ validation: ResponseValidation) async -> Attempt {
        let delegate = manager.delegate(for: plan)
        let session = manager.session
        let outcome = await unsafe withUnsafeContinuation { continuation in
            let task = manager.task(
                plan,
                delegate,
                in: session,
                collectsMetrics: settings.collectsMetrics,
                to: unsafe .waiter(continuation)
            )
            control.watchers.tell(.createdTask(task))
            control.begin(task)
        }
        session.tellEnd(of: outcome.task, outcome.error, manager.core, delegate)
        control.watchers.tell(.completedTask(outcome.task, outcome.error))
        if let metrics = outcome.metrics { control.watchers.tell(.collectedMetrics(metrics)) }
        guard let file = outcome.file, let task = outcome.task as? URLSessionDownloadTask else {
            return .ended(outcome, delegate, nil)
        }
        let move = DownloadMove(core: manager.core, session: session, task: task, destination: destination)
        if let refusal = move.refusal(file, outcome, by: validation) {
            return .ended(outcome, delegate, .refused(refusal))
        }
        let download = await unsafe withUnsafeContinuation { continuation in
            session.delegateQueue.addOperation {
                unsafe continuation.resume(returning: move.run(file, outcome.response))
            }
        }
        return .ended(outcome, delegate, download)
    }
}
