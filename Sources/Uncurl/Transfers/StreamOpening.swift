internal import URLLoading

/// Carries out a stream's request up to the head of its answer.
struct StreamOpening: Sendable {
    /// The most content that is kept of a refused answer, in bytes. An error document is shorter.
    private static let refusedContent = 1 << 20

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
        self.request = request
        self.validation = request.options.validation ?? validation
        self.isHeld = isHeld
    }

    /// Begins the request. Cancelling the Swift task cancels the request.
    func begun() async -> Result<ResponseStream, UncurlError> {
        control.resume()
        control.limit(by: request.options.deadline, on: settings.values.clock)
        return await withTaskCancellationHandler {
            await stream()
        } onCancel: {
            control.cancel()
        }
    }

    private var steps: AttemptSteps { AttemptSteps(settings, request.options.interceptors, control) }

    private func stream() async -> Result<ResponseStream, UncurlError> {
        control.watchers.tell(.began(request))
        var retryCount = 0
        while true {
            let (result, sent, response) = await attempt(retryCount)
            guard case .failure(let error) = result else { return result }
            if control.isCancelled { return ended(error, response, retryCount) }
            let failure = FailedAttempt(
                attempt: RequestAttempt(transfer: control.identifier, retryCount: retryCount),
                request: sent,
                response: response,
                data: Data(),
                error: error,
                isReplayable: request.isReplayable
            )
            switch await steps.next(after: failure) {
            case .end(let error): return ended(error, response, retryCount)
            case .again: retryCount += 1
            }
        }
    }

    private func ended(
        _ error: UncurlError,
        _ response: HTTPURLResponse?,
        _ retryCount: Int
    ) -> Result<ResponseStream, UncurlError> {
        let error = control.reason(for: error)
        control.finish(response?.statusCode, error, retryCount: retryCount)
        return .failure(error)
    }

    private func attempt(
        _ retryCount: Int
    ) async -> (Result<ResponseStream, UncurlError>, URLRequest?, HTTPURLResponse?) {
        var sent: URLRequest?
        var head: HTTPURLResponse?
        do throws(UncurlError) {
            guard !control.isCancelled else { throw .cancelled }
            guard !manager.isInvalid else { throw .sessionInvalidated }
            var plan = try manager.taskPlan(for: request, settings)
            guard let built = plan.request else { throw .transport(URLError(.unsupportedURL)) }
            control.watchers.tell(.built(built))
            let adapted = try await steps.adapted(built, retryCount)
            plan.take(adapted)
            sent = adapted
            let delegate = DataTaskDelegate(manager.core, plan.behavior)
            if let hooks = plan.hooks { delegate.hooks = hooks.values }
            delegate.watch(control.watchers)
            let taskEnd = StreamTaskEnd(core: manager.core, delegate: delegate, session: manager.session)
            let chunks = try await begun(adapted, plan, taskEnd)
            do throws(UncurlError) {
                guard let response = chunks.response as? HTTPURLResponse else {
                    throw .transport(URLError(.badServerResponse))
                }
                head = response
                try await checked(response, adapted, chunks)
                try await accepted(response, chunks, delegate)
                control.watchers.tellDetails(of: nil, nil)
                let ending = StreamEnding(control, retryCount, response.statusCode, taskEnd, chunks, isHeld: isHeld)
                return (.success(ResponseStream(response, ending, chunks)), sent, head)
            } catch {
                await taskEnd.cut(chunks, error)
                control.watchers.tell(.completedTask(chunks.task, error.urlError))
                control.watchers.tellDetails(of: nil, error)
                throw error
            }
        } catch {
            if sent == nil, control.watchers.hearsDetails { control.watchers.tellDetail(.failedBeforeSending(error)) }
            return (.failure(error), sent, head)
        }
    }

    private func begun(
        _ request: URLRequest,
        _ plan: TaskPlan,
        _ taskEnd: StreamTaskEnd
    ) async throws(UncurlError) -> ResponseChunks {
        let delegate = taskEnd.delegate
        let opened = manager.session.chunkTask(request, plan.kind.content, delegate: delegate)
        if let priority = plan.priority { opened.task.priority = priority }
        delegate.attach(opened.task)
        control.watchers.tell(.createdTask(opened.task))
        control.begin(opened.task)
        do {
            return try await opened.chunks()
        } catch {
            let cause = error as? URLError ?? URLError(.unknown)
            let reason = delegate.reason(for: cause, of: opened.task) ?? .transport(cause)
            control.watchers.tell(.completedTask(opened.task, cause))
            taskEnd.tell(opened.task, reason)
            throw reason
        }
    }

    /// Passes the head to the hooks and the request's option. Only `cancel` has an effect: a stream cannot become a
    /// download.
    private func accepted(
        _ response: HTTPURLResponse,
        _ chunks: ResponseChunks,
        _ delegate: DataTaskDelegate
    ) async throws(UncurlError) {
        guard delegate.interests.contains(.response) else { return }
        let disposition = await delegate.urlSession(manager.session, dataTask: chunks.task, didReceive: response)
        if disposition == .cancel { throw .cancelled }
    }

    private func checked(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ chunks: ResponseChunks
    ) async throws(UncurlError) {
        // Answers that have no content by definition (RFC 9110 §6.4.1) cannot have a wrong content type.
        let hasNone = request.httpMethod == "HEAD" || [204, 205, 304].contains(response.statusCode)
        var answer = ReceivedResponse(request: request, response: response, data: hasNone ? Data() : Data([0]))
        guard validation.failure(of: answer) != nil else { return }
        answer.data = Data()
        do {
            while answer.data.count < Self.refusedContent, let chunk = try await chunks.next() {
                answer.data.append(contentsOf: chunk.prefix(Self.refusedContent - answer.data.count))
            }
        } catch {
            // The error document ends with the content before the failure.
        }
        if let failure = validation.failure(of: answer) { throw .validation(failure) }
    }
}
