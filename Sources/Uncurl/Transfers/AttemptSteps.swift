internal import URLLoading

/// Calls the interceptors before and after attempts, for requests of every kind.
struct AttemptSteps: Sendable {
    enum Next {
        case again
        case end(UncurlError)
    }

    private let settings: ManagerCore.Snapshot
    private let control: TransferControl
    private let interceptors: [any RequestInterceptor]

    /// - Parameter own: the request's interceptors, which come after the manager's.
    init(_ settings: ManagerCore.Snapshot, _ own: [any RequestInterceptor], _ control: TransferControl) {
        self.settings = settings
        self.control = control
        interceptors = own.isEmpty ? settings.interceptors : settings.interceptors + own
    }

    /// Whether there are no interceptors.
    var isEmpty: Bool { interceptors.isEmpty }

    func adapted(_ request: URLRequest, _ retryCount: Int) async throws(UncurlError) -> URLRequest {
        if isEmpty { return request }
        let attempt = RequestAttempt(transfer: control.identifier, retryCount: retryCount)
        var request = request
        do {
            for interceptor in interceptors {
                request = try await control.carry(isLimited: true) { [request] in
                    try await InterceptionDepth.within { try await interceptor.adapt(request, for: attempt) }
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

    /// Returns when the next attempt may begin, or returns the error that ends the request.
    ///
    /// - Parameter request: the request of all attempts, before it was adapted.
    func next(after failure: FailedAttempt, of request: HTTPRequest) async -> Next {
        let next = await decided(failure, request)
        if case .end = next, control.isCancelled { return .end(.cancelled) }
        return next
    }

    private func decided(_ failure: FailedAttempt, _ request: HTTPRequest) async -> Next {
        // The program has ended the attempt: by its task, its session or a hook.
        if failure.error.isCancelled { return .end(failure.error) }
        // The interceptors themselves failed, so calling them again would fail in the same way.
        if InterceptionFailure(beneath: failure.error) != nil { return .end(failure.error) }
        for interceptor in interceptors {
            let delay: Duration
            switch await decision(of: interceptor, failure) {
            case .doNotRetry: continue
            case .doNotRetryWithError(let error):
                return .end(.retry(InterceptionFailure(beneath: error) ?? error, original: failure.error))
            case .retry: delay = .zero
            case .retryAfter(let given): delay = given
            }
            if let refusal = refusal(of: request, after: failure.error) { return .end(refusal) }
            control.watchers.tell(.retries(after: delay, failure.error))
            if delay > .zero { await control.wait(for: delay, on: settings.values.clock) }
            await control.ready()
            return .again
        }
        return .end(failure.error)
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
                try await InterceptionDepth.within { await interceptor.retry(failure) }
            }
        } catch {
            return .doNotRetryWithError(error)
        }
    }
}
