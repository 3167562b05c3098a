internal import URLLoading

/// Carries out a stream's request up to the head of its answer.
extension TransferRun {
    /// A failed attempt.
    struct Failure: Error {
        var error: UncurlError
        let request: URLRequest?
        let response: HTTPURLResponse?
        /// Reports the end of the attempt's task; nil where it had none. The owner of a stream calls that of the last
        /// attempt after its handler.
        var tell: (@Sendable (UncurlError) -> Void)?
    }

    /// Like ``begun(_:_:isHeld:)``, for a caller that only passes the failure on.
    func opened(
        _ request: HTTPRequest,
        _ validation: ResponseValidation = ResponseValidation()
    ) async throws(UncurlError) -> ResponseStream {
        do throws(Failure) { return try await begun(request, validation).get() } catch { throw error.error }
    }

    /// Carries out the request, which the caller has resumed, up to the head of its answer or to its failure.
    /// Cancelling the Swift task cancels the request.
    ///
    /// - Parameter isHeld: whether the stream's owner reports the end of the task.
    func begun(
        _ request: HTTPRequest,
        _ validation: ResponseValidation,
        isHeld: Bool = false
    ) async -> Result<ResponseStream, Failure> {
        let request = request.withProgressOfAllAttempts
        let validation = request.options.validation(else: validation, settings.values.options)
        control.limit(by: request.options.deadline, on: settings.values.clock)
        return await cancellably { await stream(request, validation, isHeld) }
    }

    private func stream(
        _ request: HTTPRequest,
        _ validation: ResponseValidation,
        _ isHeld: Bool
    ) async -> Result<ResponseStream, Failure> {
        await control.ready()
        var retryCount = 0
        while true {
            var failure: Failure
            do throws(Failure) {
                return .success(try await attempt(request, validation, retryCount, isHeld))
            } catch {
                failure = error
            }
            var end: UncurlError? = steps.isEmpty ? failure.error : .cancelled
            if !control.isCancelled {
                let data = failure.error.responseData ?? Data()
                end = await steps.next(
                    after: failure.error,
                    of: request,
                    failure.request,
                    failure.response,
                    data,
                    retryCount
                )
            }
            guard let end else {
                failure.tell?(failure.error)
                retryCount += 1
                continue
            }
            failure.error = control.reason(for: end)
            if !isHeld { failure.tell?(failure.error) }
            control.finish(failure.response?.statusCode, failure.error, retryCount: retryCount)
            if !isHeld { failure.tell = nil }
            return .failure(failure)
        }
    }

    private func attempt(
        _ request: HTTPRequest,
        _ validation: ResponseValidation,
        _ retryCount: Int,
        _ isHeld: Bool
    ) async throws(Failure) -> ResponseStream {
        var built = request.whole
        var plan: TaskPlan
        let adapted: URLRequest
        do throws(UncurlError) {
            plan = try planned(request, &built)
            guard let made = plan.request else { throw .transport(URLError(.unsupportedURL)) }
            adapted = try await steps.adapted(made, retryCount)
            plan.take(adapted)
        } catch {
            control.watchers.tellDetail(.failedBeforeSending(error))
            throw Failure(error: error, request: built, response: nil, tell: nil)
        }
        let delegate = DataTaskDelegate(manager.core, plan, control.watchers)
        if settings.values.collectsMetrics { delegate.collectMetrics() }
        let session = manager.session
        let hold = SessionHold(session)
        let taskEnd = StreamTaskEnd(delegate: delegate, session: session, hold: hold, retryCount: retryCount)
        let chunks = try await begun(adapted, plan, taskEnd)
        do throws(UncurlError) {
            guard let response = chunks.response as? HTTPURLResponse else {
                let words = "Only URLs of the schemes http and https can be streamed."
                throw .transport(URLError(.unsupportedURL, words: words))
            }
            try await checked(response, adapted, chunks, validation)
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
        if let priority = plan.options?.values.priority { opened.task.priority = priority }
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
        _ chunks: ResponseChunks,
        _ validation: ResponseValidation
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
