internal import URLLoading

/// Carries out a stream's request up to the head of its answer.
struct StreamOpening: Sendable {
    private let manager: URLSessionManager
    private let settings: ManagerCore.Snapshot
    let control: TransferControl
    private let request: HTTPRequest
    private let validation: ResponseValidation
    private let isHeld: Bool

    /// - Parameter isHeld: whether the stream's owner reports the end of the task.
    init(
        _ manager: URLSessionManager,
        _ request: HTTPRequest,
        _ validation: ResponseValidation,
        isHeld: Bool = false
    ) {
        self.manager = manager
        settings = manager.core.settings
        control = TransferControl(settings.monitors, in: manager.core.transfers, tag: request.options.tag)
        self.request = request.withProgressOfAllAttempts
        self.validation = request.options.validation(else: validation, settings.options)
        self.isHeld = isHeld
        control.tellFirst(.began(self.request))
    }

    /// A failed attempt.
    struct Failure: Error {
        let error: UncurlError
        let request: URLRequest?
        let response: HTTPURLResponse?
        /// Reports the end of the attempt's task; nil where it had none. The owner of a stream calls that of the last
        /// attempt after its handler.
        let tell: (@Sendable (UncurlError) -> Void)?
    }

    /// Like ``begun()``, for a caller that only passes the failure on.
    func opened() async throws(UncurlError) -> ResponseStream {
        do throws(Failure) { return try await begun().get() } catch { throw error.error }
    }

    /// Carries out the request, which the caller has resumed, up to the head of its answer or to its failure.
    /// Cancelling the Swift task cancels the request.
    func begun() async -> Result<ResponseStream, Failure> {
        control.limit(by: request.options.deadline, on: settings.values.clock)
        return await withTaskCancellationHandler {
            await stream()
        } onCancel: {
            control.cancel()
        }
    }

    private var steps: AttemptSteps { AttemptSteps(settings, request.options.interceptors, control) }

    private func stream() async -> Result<ResponseStream, Failure> {
        await control.ready()
        var retryCount = 0
        while true {
            let failure: Failure
            do throws(Failure) {
                return .success(try await attempt(retryCount))
            } catch {
                failure = error
            }
            if control.isCancelled { return ended(failure, steps.isEmpty ? failure.error : .cancelled, retryCount) }
            let failed = FailedAttempt(
                attempt: RequestAttempt(transfer: control.identifier, retryCount: retryCount),
                request: failure.request,
                response: failure.response,
                data: failure.error.responseData ?? Data(),
                error: failure.error,
                isReplayable: request.isReplayable
            )
            if let end = await steps.next(after: failed, of: request) { return ended(failure, end, retryCount) }
            failure.tell?(failure.error)
            retryCount += 1
        }
    }

    private func ended(
        _ failure: Failure,
        _ error: UncurlError,
        _ retryCount: Int
    ) -> Result<ResponseStream, Failure> {
        let error = control.reason(for: error)
        if !isHeld { failure.tell?(error) }
        control.finish(failure.response?.statusCode, error, retryCount: retryCount)
        let tell = isHeld ? failure.tell : nil
        return .failure(Failure(error: error, request: failure.request, response: failure.response, tell: tell))
    }

    private func attempt(_ retryCount: Int) async throws(Failure) -> ResponseStream {
        let plan: TaskPlan
        let adapted: URLRequest
        var built = request.whole
        do throws(UncurlError) {
            guard !control.isCancelled else { throw .cancelled }
            try manager.checkValidity()
            var given = try manager.taskPlan(for: request, settings)
            guard let made = given.request else { throw .transport(URLError(.unsupportedURL)) }
            built = made
            control.watchers.tell(.built(made))
            adapted = try await steps.adapted(made, retryCount)
            given.take(adapted)
            plan = given
        } catch {
            control.watchers.tellDetail(.failedBeforeSending(error))
            throw Failure(error: error, request: built, response: nil, tell: nil)
        }
        let delegate = DataTaskDelegate(manager.core, plan.behavior, control.watchers)
        if let hooks = plan.hooks { delegate.use(hooks) }
        if settings.collectsMetrics { delegate.collectMetrics() }
        let session = manager.session
        let hold = SessionHold(session)
        let taskEnd = StreamTaskEnd(delegate: delegate, session: session, hold: hold, retryCount: retryCount)
        let chunks = try await begun(adapted, plan, taskEnd)
        do throws(UncurlError) {
            guard let response = chunks.response as? HTTPURLResponse else {
                let words = [NSLocalizedDescriptionKey: "Only URLs of the schemes http and https can be streamed."]
                throw .transport(URLError(.unsupportedURL, userInfo: words))
            }
            try await checked(response, adapted, chunks)
            try await accepted(response, adapted, chunks, taskEnd)
            delegate.tellDetails(of: nil, nil)
            let ending = StreamEnding(control, response.statusCode, taskEnd, chunks, isHeld: isHeld)
            return ResponseStream(response, ending, chunks)
        } catch {
            await taskEnd.drain(chunks)
            taskEnd.note(chunks.task, error.urlError, error)
            delegate.tellDetails(of: nil, error)
            throw Failure(error: error, request: adapted, response: chunks.response as? HTTPURLResponse) {
                taskEnd.tell(chunks.task, $0)
            }
        }
    }

    private func begun(
        _ request: URLRequest,
        _ plan: TaskPlan,
        _ taskEnd: StreamTaskEnd
    ) async throws(Failure) -> ResponseChunks {
        let delegate = taskEnd.delegate
        let opened = taskEnd.session.chunkTask(request, plan.kind.content, delegate: delegate)
        if let priority = plan.priority { opened.task.priority = priority }
        delegate.begin(opened.task, in: taskEnd.session)
        control.watchers.tell(.createdTask(opened.task))
        control.begin(opened.task)
        do {
            return try await opened.chunks()
        } catch {
            let cause = error as? URLError ?? URLError(.unknown)
            let reason = delegate.reason(for: cause, of: opened.task) ?? .transport(cause)
            taskEnd.note(opened.task, cause, reason)
            throw Failure(error: reason, request: request, response: nil) { taskEnd.tell(opened.task, $0) }
        }
    }

    /// Passes the head to the hooks and the request's option. Only `cancel` has an effect: a stream cannot become a
    /// download. While a hook does not answer, the request's time limits and a cancel still end the request.
    private func accepted(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ chunks: ResponseChunks,
        _ taskEnd: StreamTaskEnd
    ) async throws(UncurlError) {
        let (delegate, session) = (taskEnd.delegate, taskEnd.session)
        guard delegate.interests.contains(.response) else { return }
        let question = Task<URLSession.ResponseDisposition, any Error> {
            await delegate.disposition(of: chunks.task, response, session)
        }
        let limit = session.answerLimit(of: request)
        do {
            let answer = try await control.carry {
                try await question.value(within: limit, or: "A hook has not answered within the request's limit.")
            }
            if answer != .cancel { return }
        } catch let error as URLError {
            question.cancel()
            throw .transport(error)
        } catch {
            question.cancel()
        }
        throw .cancelled
    }

    private func checked(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ chunks: ResponseChunks
    ) async throws(UncurlError) {
        var answer = ReceivedResponse(request: request, response: response, data: Data())
        let rejection = validation.checksAlone.failure(of: answer)
        let head = validation.withoutChecks
        // Answers that have no content by definition (RFC 9110 §6.4.1, §15.3.6) cannot have a wrong content type.
        let hasNone = request.httpMethod == "HEAD" || [204, 205, 304].contains(response.statusCode)
        answer.data = hasNone ? Data() : Data([0])
        guard rejection != nil || head.failure(of: answer) != nil else { return }
        answer.data = Data()
        do {
            while answer.data.count < ValidationFailure.contentLimit, let chunk = try await chunks.next() {
                answer.data.append(contentsOf: chunk.prefix(ValidationFailure.contentLimit - answer.data.count))
            }
        } catch {
            if control.isCancelled { throw .cancelled }
            // The error document ends with the content before the failure.
        }
        let reasons = [head.failure(of: answer), rejection].compactMap { $0?.reasons }.flatMap { $0 }
        if !reasons.isEmpty { throw .validation(ValidationFailure(reasons, answer: answer)) }
    }
}
