internal import Dispatch
internal import URLLoading

/// Carries a request from its building to its response: through its attempts, and through the interceptors' decisions
/// on failures.
///
/// Only the function that makes the value is generic over the value's type. Generic code looks its types up at run
/// time, which would cost a small request a tenth of its time.
final class TransferRun: Sendable {
    /// What the request loads.
    enum Kind {
        case answer
        case file
        /// The rest of a file. The request has only options.
        case rest(Data)

        var isWhole: Bool {
            if case .rest = self { false } else { true }
        }
    }

    /// The outcome of an attempt, before a response is made of it.
    private enum Attempt: Sendable {
        /// The request could not be built or adapted, so it never became a task.
        case refused(UncurlError, URLRequest?)
        case ended(TaskOutcome, TaskDelegate, DownloadedFile?)

        /// Called when the attempt's end has been reported. A background session then no longer keeps the task.
        func settle() {
            guard case .ended(let outcome, _, let download) = self else { return }
            outcome.settle?(download?.isStranded != true)
        }

        /// Removes the file of a download that is tried again. No caller knows of it.
        func removeFile() {
            guard case .ended(let outcome, _, let download?) = self, let file = outcome.file else { return }
            if case .placed = download { return }
            try? FileManager.default.removeItem(at: file)
        }
    }

    private let manager: URLSessionManager
    let settings: ManagerCore.Snapshot
    let control: TransferControl
    private let kind: Kind
    private let steps: AttemptSteps
    private let destination: DownloadDestination?

    /// A run with the manager's current settings.
    ///
    /// - Parameter options: the options of the request.
    init(
        _ manager: URLSessionManager,
        _ options: RequestOptions,
        _ kind: Kind = .answer,
        to destination: DownloadDestination? = nil
    ) {
        let settings = manager.core.settings
        let control = TransferControl(settings.monitors, in: manager.core.transfers, tag: options.tag)
        self.manager = manager
        self.settings = settings
        self.control = control
        self.kind = kind
        steps = AttemptSteps(settings, options.interceptors, control)
        self.destination = destination
    }

    /// - Parameter completion: called on the completion queue before the notification.
    func response<Serializer: ResponseSerializer>(
        to request: HTTPRequest,
        by serializer: Serializer,
        _ completion: (@Sendable (Response<Serializer.Value>) -> Void)? = nil
    ) async -> Response<Serializer.Value> {
        let serializer = serializer.decoding(by: settings.decoder)
        let request = request.withProgressOfAllAttempts
        if let deadline = request.options.deadline ?? settings.deadline {
            control.limit(by: deadline, on: settings.values.clock)
        }
        control.watchers.tell(.began(kind.isWhole ? request : nil))
        if control.state != .resumed { await control.ready() }
        let validation = request.options.validation ?? serializer.validation
        var retryCount = 0
        var resumption: Data?
        // The previous attempt. A background session keeps it until the next one has ended.
        var last: Attempt?
        while true {
            let attempt = await cancellably { await self.attempt(request, validation, retryCount, resumption) }
            last?.settle()
            let response = made(of: attempt, serializer, validation, retryCount)
            guard let error = response.error, !control.isCancelled else {
                let reason = response.error.map { control.reason(for: $0) }
                return await ended(reason.map { response.failing($0) } ?? response, attempt, serializer, completion)
            }
            let failure = FailedAttempt(
                attempt: RequestAttempt(transfer: control.identifier, retryCount: retryCount),
                request: response.request,
                response: response.response,
                data: response.data,
                error: error,
                isReplayable: request.isReplayable
            )
            switch await cancellably({ await steps.next(after: failure) }) {
            case .end(let error):
                let reason = control.reason(for: error)
                return await ended(response.failing(reason), attempt, serializer, completion)
            case .again:
                await onCompletionQueue { self.tell(attempt, response, serializer) }
                attempt.removeFile()
                last = attempt
                resumption = response.resumeData
                retryCount += 1
            }
        }
    }

    /// Awaits a step. Cancelling the Swift task cancels the request. The function is generic only over the step's
    /// result, so it is not compiled for each type of value.
    private func cancellably<Made>(_ step: () async -> Made) async -> Made {
        await withTaskCancellationHandler {
            await step()
        } onCancel: {
            control.cancel()
        }
    }

    /// Reports the end in its order: handler, notification, then the operations that wait for the task.
    private func ended<Serializer: ResponseSerializer>(
        _ response: Response<Serializer.Value>,
        _ attempt: Attempt,
        _ serializer: Serializer,
        _ completion: (@Sendable (Response<Serializer.Value>) -> Void)?
    ) async -> Response<Serializer.Value> {
        control.finish(response.statusCode, response.error, retryCount: response.retryCount)
        if let completion {
            let group = settings.values.completionGroup ?? ManagerCore.sharedGroup
            await unsafe withUnsafeContinuation { continuation in
                (settings.completionQueue ?? manager.core.ownQueue).async(group: group) {
                    completion(response)
                    self.tell(attempt, response, serializer)
                    unsafe continuation.resume()
                }
            }
        } else {
            await onCompletionQueue { self.tell(attempt, response, serializer) }
        }
        attempt.settle()
        return response
    }

    /// Runs `work` on the completion queue that the program has set. Without such a queue it runs at once, because no
    /// program can see the difference.
    private func onCompletionQueue(_ work: @escaping @Sendable () -> Void) async {
        guard let queue = settings.completionQueue, settings.notificationCenter != nil else { return work() }
        await unsafe withUnsafeContinuation { continuation in
            queue.async {
                work()
                unsafe continuation.resume()
            }
        }
    }

    private func tell<Serializer: ResponseSerializer>(
        _ attempt: Attempt,
        _ response: Response<Serializer.Value>,
        _ serializer: Serializer
    ) {
        guard case .ended(let outcome, let delegate, _) = attempt else { return }
        manager.core.postCompletion(outcome.task, response, serializer)
        delegate.open()
    }

    private func made<Serializer: ResponseSerializer>(
        of attempt: Attempt,
        _ serializer: Serializer,
        _ validation: ResponseValidation,
        _ retryCount: Int
    ) -> Response<Serializer.Value> {
        switch attempt {
        case .refused(let error, let request):
            if control.watchers.hearsDetails { control.watchers.tellDetail(.failedBeforeSending(error)) }
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
            delegate.note(response.facts)
            control.watchers.tellDetails(of: download, response.error)
            control.watchers.tell(.serialized(statusCode: response.statusCode, response.error))
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
        // A failure before sending carries the URL of the program's own request.
        var built = wanted.whole
        do throws(UncurlError) {
            guard !control.isCancelled else { throw .cancelled }
            guard !manager.isInvalid else { throw .sessionInvalidated }
            var plan = try plan(for: wanted)
            built = plan.request
            if let request = plan.request {
                control.watchers.tell(.built(request))
                if !steps.isEmpty {
                    plan.take(try await steps.adapted(request, retryCount))
                    built = plan.request
                }
            }
            // A range applies to a GET only (RFC 9110 §14.2). Any other request is sent again as it is.
            if let resumption, plan.request?.httpMethod ?? "GET" == "GET" { plan.kind = .resumedDownload(resumption) }
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
            plan.kind = .download(plan.kind.content)
            return plan
        case .rest(let data): return manager.taskPlan(resuming: data, request.options)
        }
    }

    private func send(_ plan: TaskPlan, _ validation: ResponseValidation) async -> Attempt {
        let delegate = manager.delegate(for: plan)
        delegate.watch(control.watchers)
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
        let move = DownloadMove(
            core: manager.core,
            session: session,
            task: task,
            own: delegate.hooks.didFinishDownloading,
            destination: (delegate as? DownloadTaskDelegate)?.destination ?? destination
        )
        if let refusal = move.refusal(file, outcome, by: validation) {
            return .ended(outcome, delegate, .refused(refusal))
        }
        let download = await unsafe withUnsafeContinuation { continuation in
            session.delegateQueue.addOperation {
                unsafe continuation.resume(returning: move.run(file, outcome))
            }
        }
        return .ended(outcome, delegate, download)
    }
}
