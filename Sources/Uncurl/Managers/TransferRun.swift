internal import Dispatch
internal import URLLoading

/// Carries a request from its building to its response: through its attempts, and through the interceptors' decisions
/// on failures.
///
/// Only the function that makes the value knows its type; see ``ResponseFacts``.
final class TransferRun: Sendable {
    /// What the request loads.
    enum Kind {
        case answer
        case file
        /// A file that only the serializer reads. It is removed at the end, unless it was given a place.
        case serializedFile
        /// The rest of a file. The request has only options.
        case rest(Data)

        var isSerializedFile: Bool {
            if case .serializedFile = self { true } else { false }
        }
    }

    /// The outcome of an attempt, before a response is made of it.
    private indirect enum Attempt: Sendable {
        /// The request could not be built or adapted, so it never became a task.
        case refused(UncurlError, URLRequest?)
        case ended(TaskOutcome, TaskDelegate, DownloadedFile?)

        /// The request as it was sent, or would have been. A redirect does not change it.
        var request: URLRequest? {
            switch self {
            case .refused(_, let request): request
            case .ended(let outcome, _, _): outcome.task.originalRequest
            }
        }

        /// Called when the attempt's end has been reported. A background session then no longer keeps the task.
        func settle() {
            guard case .ended(let outcome, _, _) = self, let settle = outcome.settle else { return }
            if case .ended(_, _, let download?) = self { settle(!download.isStranded) } else { settle(true) }
        }

        /// Removes the file of a download that is tried again. No caller knows of it.
        func removeFile() {
            guard case .ended(let outcome, _, let download?) = self, let file = outcome.file else { return }
            switch download {
            case .placed: break
            case .left(let place): try? FileManager.default.removeItem(at: place)
            case .refused(let refusal): try? FileManager.default.removeItem(at: refusal.fileURL ?? file)
            case .stranded: try? FileManager.default.removeItem(at: file)
            }
        }
    }

    let manager: URLSessionManager
    let settings: Shared<ManagerCore.Settings>
    let control: TransferControl
    private let kind: Kind
    let steps: AttemptSteps
    private let serializer: any ResponseSerializer
    private let destination: DownloadDestination?

    /// A run with the manager's current settings.
    ///
    /// - Parameters:
    ///   - options: the options of the request.
    ///   - serializer: gets the manager's decoder, if it needs one.
    convenience init(
        _ manager: URLSessionManager,
        _ options: RequestOptions,
        by serializer: some ResponseSerializer,
        _ kind: Kind = .answer,
        to destination: DownloadDestination? = nil
    ) {
        let settings = manager.core.settings
        let control = TransferControl(settings.values.monitors, in: manager.core.transfers, tag: options.tag)
        self.init(manager, settings, control, options, by: serializer, kind, to: destination)
    }

    /// A run with earlier settings, of a control that was made with them.
    init(
        _ manager: URLSessionManager,
        _ settings: Shared<ManagerCore.Settings>,
        _ control: TransferControl,
        _ options: RequestOptions,
        by serializer: some ResponseSerializer,
        _ kind: Kind,
        to destination: DownloadDestination?
    ) {
        self.manager = manager
        self.settings = settings
        self.control = control
        self.kind = kind
        steps = AttemptSteps(settings, options.interceptors, control)
        self.serializer = serializer.decoding(by: settings.values.decoder)
        self.destination = destination
    }

    /// - Parameter completion: called on the completion queue before the notification.
    func response(
        to request: HTTPRequest,
        _ completion: (@Sendable (ResponseFacts) -> Void)? = nil
    ) async -> ResponseFacts {
        let request = request.withProgressOfAllAttempts
        let isHeld = control.state != .resumed
        if isHeld { await control.begun() }
        if let deadline = request.options.deadline ?? settings.values.options.deadline {
            control.limit(by: deadline, on: settings.values.clock)
        }
        if isHeld { await control.ready() }
        let validation = request.options.validation(else: serializer.validation, settings.values.options)
        var retryCount = 0
        var resumption: Data? = if case .rest(let data) = kind { data } else { nil }
        // The previous attempt. A background session keeps it until the next one is in its journal.
        var last: Attempt?
        while true {
            let attempt = await attempt(request, validation, retryCount, resumption, after: last)
            let response = made(of: attempt, validation, retryCount, resumption)
            guard let error = response.error, !control.isCancelled else {
                // With interceptors, the cancel replaces the failure: they could have sent the request again.
                let reason = response.error.map { control.reason(for: steps.isEmpty ? $0 : .cancelled) }
                return await ended(reason.map { response.failing($0) } ?? response, attempt, completion)
            }
            let sent = attempt.request
            if let end = await cancellably({
                await steps.next(after: error, of: request, sent, response.response, response.data, retryCount)
            }) {
                return await ended(response.failing(control.reason(for: end)), attempt, completion)
            }
            await told(attempt, response)
            attempt.removeFile()
            last = attempt
            resumption = response.resumeData
            retryCount += 1
        }
    }

    /// Awaits a step. Cancelling the Swift task cancels the request.
    func cancellably<Made>(_ step: () async -> Made) async -> Made {
        await withTaskCancellationHandler {
            await step()
        } onCancel: {
            control.cancel()
        }
    }

    /// Reports the end in its order: handler, notification, then the operations that wait for the task.
    private func ended(
        _ response: ResponseFacts,
        _ attempt: Attempt,
        _ completion: (@Sendable (ResponseFacts) -> Void)?
    ) async -> ResponseFacts {
        // The interceptors or the deadline may have replaced the failure of the task.
        if response.error != nil, case .ended(_, let delegate, _) = attempt { delegate.note(response) }
        control.finish(response.statusCode, response.error, retryCount: response.retryCount)
        if let completion {
            let group = settings.values.completionGroup ?? ManagerCore.sharedGroup
            await unsafe withUnsafeContinuation { continuation in
                (settings.values.completionQueue ?? manager.core.ownQueue).async(group: group) {
                    completion(response)
                    self.tell(attempt, response)
                    unsafe continuation.resume()
                }
            }
        } else {
            await told(attempt, response)
        }
        if kind.isSerializedFile, case .ended(_, _, .left?) = attempt { attempt.removeFile() }
        attempt.settle()
        return response
    }

    /// Reports the end of an attempt on the completion queue that the program has set. Without such a queue it reports
    /// at once, because no program can see the difference.
    private func told(_ attempt: Attempt, _ response: ResponseFacts) async {
        guard let queue = settings.values.completionQueue, settings.values.notificationCenter != nil else {
            return tell(attempt, response)
        }
        await unsafe withUnsafeContinuation { continuation in
            queue.async {
                self.tell(attempt, response)
                unsafe continuation.resume()
            }
        }
    }

    private func tell(_ attempt: Attempt, _ response: ResponseFacts) {
        guard case .ended(let outcome, let delegate, _) = attempt else { return }
        delegate.tellEnd(of: outcome.task, response, serializer)
    }

    private func made(
        of attempt: Attempt,
        _ validation: ResponseValidation,
        _ retryCount: Int,
        _ resumption: Data?
    ) -> ResponseFacts {
        switch attempt {
        case .refused(let error, let request):
            control.watchers.tellDetail(.failedBeforeSending(error))
            control.watchers.tell(.serialized(statusCode: nil, error))
            return ResponseFacts(request, error: error, retryCount: retryCount, resumeData: resumption)
        case .ended(let outcome, let delegate, let download):
            let response = delegate.response(
                to: outcome,
                by: serializer,
                validation,
                download: download,
                retryCount: retryCount,
                resumeData: outcome.leaves(resumption)
            )
            delegate.tellResponse(response, download)
            return response
        }
    }

    // MARK: Attempts

    private func attempt(
        _ wanted: HTTPRequest,
        _ validation: ResponseValidation,
        _ retryCount: Int,
        _ resumption: Data?,
        after last: Attempt?
    ) async -> Attempt {
        if Task.isCancelled { control.cancel() }
        // A failure before sending carries the URL of the program's own request.
        var built = wanted.whole
        var plan: TaskPlan
        do throws(UncurlError) {
            plan = try planned(wanted, &built)
            if !steps.isEmpty, let request = plan.request { plan.take(try await adapted(request, retryCount)) }
        } catch {
            last?.settle()
            return .refused(error, built)
        }
        // Range applies only to GET (RFC 9110 §14.2). A request with another method is sent again as it is.
        if let resumption, plan.request?.httpMethod ?? "GET" == "GET" { plan.kind = .resumedDownload(resumption) }
        let (delegate, session) = (manager.delegate(for: plan, control.watchers), manager.session)
        if delegate.interests.contains(.response) {
            delegate.onBecomingDownload { [weak control] in control?.replaceTask(by: $0) }
        }
        let outcome = await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                let task = manager.task(
                    plan,
                    delegate,
                    in: session,
                    collectsMetrics: settings.values.collectsMetrics,
                    to: unsafe .waiter(continuation)
                )
                control.watchers.tell(.createdTask(task))
                control.begin(task)
                last?.settle()
            }
        } onCancel: {
            control.cancel()
        }
        defer { outcome.hold?.end() }
        delegate.ended(outcome.task, outcome.error, outcome.metrics, in: session)
        guard outcome.file != nil else { return .ended(outcome, delegate, nil) }
        let download = await unsafe withUnsafeContinuation { continuation in
            let givesFile = !kind.isSerializedFile
            delegate.place(outcome, destination, givesFile: givesFile, by: validation, in: session) {
                unsafe continuation.resume(returning: $0)
            }
        }
        return .ended(outcome, delegate, download)
    }

    private func adapted(_ request: URLRequest, _ retryCount: Int) async throws(UncurlError) -> URLRequest {
        try await cancellably { () async -> Result<URLRequest, UncurlError> in
            do throws(UncurlError) {
                return .success(try await steps.adapted(request, retryCount))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// The plan of an attempt, before the interceptors change its request.
    ///
    /// - Parameter built: the request of the plan.
    func planned(_ request: HTTPRequest, _ built: inout URLRequest?) throws(UncurlError) -> TaskPlan {
        guard !control.isCancelled else { throw .cancelled }
        try manager.checkValidity()
        var plan: TaskPlan
        switch kind {
        case .answer: plan = try manager.taskPlan(for: request, settings)
        case .file, .serializedFile:
            plan = try manager.taskPlan(for: request, settings)
            plan.kind = .download(plan.kind.content)
        case .rest(let data): plan = manager.taskPlan(resuming: data, request)
        }
        built = plan.request
        if let built { control.watchers.tell(.built(built)) }
        return plan
    }
}

extension TaskOutcome {
    /// The earlier resume data, if this task has left it as it was: the task was cancelled before an answer came, or
    /// the answer was a refusal, which is not the content.
    fileprivate func leaves(_ resumption: Data?) -> Data? {
        guard let status = (response as? HTTPURLResponse)?.statusCode else {
            return error?.code == .cancelled ? resumption : nil
        }
        return (200..<300).contains(status) ? nil : resumption
    }
}

/// Calls the interceptors before and after attempts, for requests of every kind.
struct AttemptSteps: Sendable {
    private let settings: Shared<ManagerCore.Settings>
    private let control: TransferControl
    private let interceptors: [any RequestInterceptor]

    /// - Parameter own: the request's interceptors, which come after the manager's.
    init(_ settings: Shared<ManagerCore.Settings>, _ own: [any RequestInterceptor], _ control: TransferControl) {
        self.settings = settings
        self.control = control
        interceptors = own.isEmpty ? settings.values.interceptors : settings.values.interceptors + own
    }

    var isEmpty: Bool { interceptors.isEmpty }

    func adapted(_ request: URLRequest, _ retryCount: Int) async throws(UncurlError) -> URLRequest {
        if isEmpty { return request }
        let attempt = RequestAttempt(transfer: control.identifier, retryCount: retryCount)
        var request = request
        do {
            for interceptor in interceptors {
                request = try await control.carry(isLimited: true) { [request] in
                    try await RequestAttempt.within { try await interceptor.adapt(request, for: attempt) }
                }
            }
        } catch {
            // A cancelled request is the likely cause of the error.
            throw control.isCancelled ? .cancelled : .adaptation(InterceptionFailure(beneath: error) ?? error)
        }
        try request.checkFields()
        control.watchers.tell(.adapted(request))
        return request
    }

    /// Returns when the next attempt may begin; or returns the error that ends the request.
    ///
    /// - Parameters:
    ///   - request: the request of all attempts, before it was adapted.
    ///   - mayRepeat: false where another attempt could do nothing with its answer.
    func next(
        after error: UncurlError,
        of request: HTTPRequest,
        _ sent: URLRequest?,
        _ response: HTTPURLResponse?,
        _ data: Data,
        _ retryCount: Int,
        mayRepeat: Bool = true
    ) async -> UncurlError? {
        let failure = FailedAttempt(
            attempt: RequestAttempt(transfer: control.identifier, retryCount: retryCount),
            request: sent,
            response: response,
            data: data,
            error: error,
            isReplayable: request.isReplayable && mayRepeat
        )
        let end = await decided(failure, request)
        return end != nil && control.isCancelled ? .cancelled : end
    }

    private func decided(_ failure: FailedAttempt, _ request: HTTPRequest) async -> UncurlError? {
        // The program has ended the attempt: by its task, its session or a hook.
        if failure.error.isCancelled { return failure.error }
        // The interceptors themselves failed, so calling them again would fail in the same way.
        if InterceptionFailure(beneath: failure.error) != nil { return failure.error }
        for interceptor in interceptors {
            let delay: Duration
            switch await decision(of: interceptor, failure) {
            case .doNotRetry: continue
            case .doNotRetryWithError(let error):
                return .retry(InterceptionFailure(beneath: error) ?? error, original: failure.error)
            case .retry: delay = .zero
            case .retryAfter(let given): delay = given
            }
            if let refusal = refusal(of: request, after: failure.error) { return refusal }
            control.watchers.tell(.retries(after: delay, failure.error))
            if delay > .zero { await control.wait(for: delay, on: settings.values.clock) }
            await control.ready()
            return nil
        }
        return failure.error
    }

    /// The error of a request whose content is read once and has been: no decision sends it again. Nil for any other.
    private func refusal(of request: HTTPRequest, after error: UncurlError) -> UncurlError? {
        switch error {
        case .bodyNotReplayable, .multipart(.notReplayable): error
        default: request.isReplayable || control.uploadProgress.completed == 0 ? nil : request.notReplayable
        }
    }

    private func decision(of interceptor: any RequestInterceptor, _ failure: FailedAttempt) async -> RetryDecision {
        do {
            return try await control.carry(isLimited: true) {
                try await RequestAttempt.within { await interceptor.retry(failure) }
            }
        } catch {
            return .doNotRetryWithError(error)
        }
    }
}
