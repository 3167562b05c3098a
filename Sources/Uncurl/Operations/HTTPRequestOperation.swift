internal import Dispatch
internal import Synchronization
public import URLLoading

/// A request as an `Operation`, with dependencies, priorities, queues, and pauses that keep the received content.
///
/// The operation is finished when its answer has been made into a value. Dependent operations begin then. Its
/// completion handler is called once, on the manager's completion queue and in its group.
open class HTTPRequestOperation: Operation, @unchecked Sendable {
    struct Facts {
        var isExecuting = false
        var isPaused = false
        /// The task under way, and whether a pause has told it to stop.
        var task: URLSessionTask?
        var isStopping = false
        /// Continues a started operation that is paused and has no task.
        var waiter: CheckedContinuation<Void, Never>?
        /// Proves that the rest belongs to the kept content (RFC 9110 §13.1.5). Without it a resume starts over.
        var validator: String?
        var total: Int64 = -1
        var response: HTTPURLResponse?
        /// Why the operation itself stopped its task.
        var failure: UncurlError?
        var result: Response<any Sendable>?
        var handlers: [@Sendable (Response<any Sendable>) -> Void] = []
        /// Whether the kept content is not part of the server's content, so that the whole content is requested.
        var asksAgain = false
        /// How often an interceptor sent the request again.
        var retryCount = 0
        /// Further settings of the request's task; nil where the operation was made of a `URLRequest`.
        var plan: TaskPlan?
        /// The options of the operation's request.
        var options = RequestOptions()
        /// The progress of sending, over all attempts.
        var upload: (@Sendable (TransferProgress) -> Void)?
    }

    let manager: URLSessionManager
    let serializer: AnyResponseSerializer
    let facts = Mutex(Facts())
    /// Separate from the facts, because the program's stream may read the facts while it is written to.
    let sink = Mutex<OperationSink?>(nil)
    /// The request that the operation sends.
    public let request: URLRequest

    /// Receives the content instead of memory. The stream is opened before the first content and closed at the end.
    public let outputStream: OutputStream?
    /// Answers the first challenge that is not about trust.
    public let credential: URLCredential?
    /// Whether the session's credential storage may answer challenges that have no other answer.
    public let shouldUseCredentialStorage: Bool
    private let hooked: TaskHooks
    /// The most content that is kept in memory, in bytes.
    let limit: Int
    let control: TransferControl
    private let progress, risingProgress: (@Sendable (TransferProgress) -> Void)?

    /// An operation that has not begun.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - manager: the manager whose session and settings the operation uses.
    ///   - serializer: makes the value of the answer; nil for the manager's current one.
    ///   - outputStream: receives the content instead of memory.
    ///   - credential: answers the first challenge that is not about trust.
    ///   - shouldUseCredentialStorage: whether the session's storage may answer a challenge that has no other answer.
    ///   - hooks: this operation's own hooks.
    ///   - progress: called with the progress of the received content, on the session's delegate queue. The progress
    ///     grows across pauses and attempts.
    public init(
        request: URLRequest,
        manager: URLSessionManager,
        serializer: (any ResponseSerializer)? = nil,
        outputStream: OutputStream? = nil,
        credential: URLCredential? = nil,
        shouldUseCredentialStorage: Bool = true,
        hooks: TaskHooks = TaskHooks(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.request = request
        self.manager = manager
        self.serializer = AnyResponseSerializer(serializer ?? manager.responseSerializer)
            .decoding(by: manager.core.decoder)
        self.outputStream = outputStream
        self.credential = credential
        self.shouldUseCredentialStorage = shouldUseCredentialStorage
        hooked = hooks
        limit = request.maximumDataLength ?? manager.maximumDataLength
        control = TransferControl(manager.monitors, in: manager.core.transfers)
        self.progress = progress
        risingProgress = progress.map(TransferProgress.rising)
    }

    /// An operation for a request of any kind, with its options, except those that decide where the content goes.
    ///
    /// - Throws: the reason why the request cannot be built.
    public convenience init(
        _ request: HTTPRequest,
        manager: URLSessionManager,
        serializer: (any ResponseSerializer)? = nil,
        outputStream: OutputStream? = nil,
        credential: URLCredential? = nil,
        shouldUseCredentialStorage: Bool = true
    ) throws(UncurlError) {
        let plan = try manager.taskPlan(for: request, manager.core.settings)
        guard let made = plan.request else { throw .transport(URLError(.unsupportedURL)) }
        self.init(
            request: made,
            manager: manager,
            serializer: serializer,
            outputStream: outputStream,
            credential: credential,
            shouldUseCredentialStorage: shouldUseCredentialStorage,
            hooks: request.options.hooks ?? TaskHooks(),
            progress: request.options.downloadProgress
        )
        keep(plan, request.options)
    }

    private func keep(_ plan: TaskPlan?, _ options: RequestOptions) {
        let upload = options.uploadProgress.map(TransferProgress.rising)
        facts.withLock { ($0.plan, $0.options, $0.upload) = (plan, options, upload) }
        control.take(tag: options.tag)
    }

    /// A new operation for the same request, without response, output stream and handlers.
    public convenience init(copying other: HTTPRequestOperation) {
        self.init(
            request: other.request,
            manager: other.manager,
            serializer: other.serializer.base,
            credential: other.credential,
            shouldUseCredentialStorage: other.shouldUseCredentialStorage,
            hooks: other.hooked,
            progress: other.progress
        )
        let (plan, options) = other.facts.withLock { ($0.plan, $0.options) }
        keep(plan, options)
    }

    var options: RequestOptions { facts.withLock { $0.options } }

    // MARK: State and result

    open override var isAsynchronous: Bool { true }
    open override var isExecuting: Bool { facts.withLock { $0.isExecuting } }
    open override var isFinished: Bool { facts.withLock { $0.result != nil } }

    /// Whether the operation is paused, between ``pause()`` and ``resume()``.
    public var isPaused: Bool { facts.withLock { $0.isPaused && $0.result == nil } }

    /// The result; nil before the end.
    public var result: Response<any Sendable>? { facts.withLock { $0.result } }
    /// The head of the answer; nil before it has come.
    public var response: HTTPURLResponse? { facts.withLock { $0.response } }

    /// Calls a handler once, on the completion queue, at the end of the operation. If the operation has ended already,
    /// the handler is queued at once.
    public func onCompletion(_ handler: @escaping @Sendable (Response<any Sendable>) -> Void) {
        let result = facts.withLock { facts in
            if facts.result == nil { facts.handlers.append(handler) }
            return facts.result
        }
        if let result { call([handler], result) }
    }

    // MARK: Control

    open override func start() {
        let begins = changing(\.isExecuting) {
            facts.withLock { facts in
                guard !facts.isExecuting, facts.result == nil else { return false }
                facts.isExecuting = true
                return true
            }
        }
        guard begins else { return }
        // The queue starts a cancelled operation too, and waits for its end.
        if isCancelled { return finish(cancelled) }
        // The request's deadline, its tag and `cancelAll` cancel the operation in every state.
        control.carries { [weak self] in self?.cancel() }
        control.tellFirst(.began(HTTPRequest(request)))
        control.resume()
        control.limit(by: options.deadline, on: manager.clock)
        Task.immediate { await run() }
    }

    /// Ends the operation with ``UncurlError/cancelled``: at once if it has started, otherwise when its queue starts
    /// it.
    open override func cancel() {
        super.cancel()
        let (task, waiter) = facts.withLock { ($0.task, $0.waiter.take()) }
        task?.cancel()
        control.cancel()
        waiter?.resume()
    }

    /// Closes the connection and keeps the received content. ``resume()`` requests the rest. A server whose content has
    /// changed meanwhile, or that does not serve ranges, is asked for the whole content.
    public func pause() {
        let task = facts.withLock { facts in
            facts.isPaused = true
            defer { facts.isStopping = facts.task != nil }
            return facts.isStopping ? nil : facts.task
        }
        task?.cancel()
    }

    /// Continues after ``pause()``, after the content received so far. Without a pause nothing happens.
    public func resume() {
        let waiter = facts.withLock { facts in
            facts.isPaused = false
            return facts.waiter.take()
        }
        waiter?.resume()
    }

    // MARK: From task to task

    /// Sends the request until an attempt gives the result. A pause ends a task, but not the attempt.
    private func run() async {
        while await waitUntilWanted() {
            let (request, retryCount) = (continuing, facts.withLock { $0.retryCount })
            control.watchers.tell(.built(request))
            let steps = AttemptSteps(manager.core.settings, options.interceptors, control)
            let last: Ended?
            let response: Response<any Sendable>
            do throws(UncurlError) {
                guard let ended = await end(of: try await steps.adapted(request, retryCount)) else { continue }
                last = ended
                response = made(of: ended, retryCount)
            } catch {
                last = nil
                response = Response(ResponseFacts(request, error: error, retryCount: retryCount))
            }
            guard let error = response.error, facts.withLock({ $0.failure == nil }), !steps.isEmpty else {
                return finish(response, last)
            }
            if isCancelled { return finish(response.failing(.cancelled), last) }
            let sent = last.map { $0.outcome.task.originalRequest } ?? request
            let end = await steps.next(
                after: error,
                of: HTTPRequest(self.request),
                sent,
                response.response,
                response.data,
                retryCount,
                mayRepeat: mayFollow(error)
            )
            if let end { return finish(response.failing(end), last) }
            tell(last, response)
            guard goesOn(behind: error) else { return finish(response) }
            if !isCancelled { facts.withLock { $0.retryCount += 1 } }
        }
        finish(cancelled)
    }

    /// Returns when the operation is not paused; false where it has been cancelled.
    private func waitUntilWanted() async -> Bool {
        await withCheckedContinuation { continuation in
            let waits = facts.withLock { facts in
                guard facts.isPaused, !isCancelled else { return false }
                facts.waiter = continuation
                return true
            }
            if !waits { continuation.resume() }
        }
        return !isCancelled
    }

    /// The request for the rest of the content, or for all of it.
    private var continuing: URLRequest {
        var request = request
        let held = sink.withLock { $0?.count ?? 0 }
        guard held > 0, let validator = facts.withLock({ $0.validator }) else { return request }
        request.setValue("bytes=\(held)-", forHTTPHeaderField: "Range")
        request.setValue(validator, forHTTPHeaderField: "If-Range")
        // The parts are joined, so they must not be compressed.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return request
    }

    // MARK: One task

    private typealias Ended = (outcome: TaskOutcome, delegate: TaskDelegate)

    /// Makes a task on the session's delegate queue, and waits for its end there, which calls the program's code.
    ///
    /// - Returns: nil where the operation continues: after a pause, and where the whole content must be requested.
    private func end(of request: URLRequest) async -> Ended? {
        let session = manager.session
        return await withCheckedContinuation { continuation in
            session.delegateQueue.addLasting { [self] in
                makeTask(request, in: session) { [self] ended in
                    ended.delegate.ended(ended.outcome.task, ended.outcome.error, ended.outcome.metrics, in: session)
                    ended.outcome.settle?(true)
                    ended.outcome.hold?.end()
                    continuation.resume(returning: continues(behind: ended) ? nil : ended)
                }
            }
        }
    }

    private func makeTask(
        _ request: URLRequest,
        in session: URLSession,
        _ then: @escaping @Sendable (Ended) -> Void
    ) {
        var plan = facts.withLock { $0.plan } ?? TaskPlan(kind: .data)
        plan.take(request)
        plan.content = .nothing(isStorable: outputStream == nil)
        // The operation keeps the content, and so knows its progress.
        var options = options
        (options.uploadProgress, options.downloadProgress) = (facts.withLock { $0.upload }, nil)
        plan.options = options.shared
        plan.takesHead = { [self] in receive($0) }
        plan.takesContent = { [self] task, data in if !receive(data) { task.cancel() } }
        let delegate = manager.delegate(for: plan, control.watchers)
        delegate.hooks = hooked
        if let credential { delegate.credential = credential }
        if !shouldUseCredentialStorage { delegate.usesCredentialStorage = false }
        let task = manager.task(
            plan,
            delegate,
            in: session,
            collectsMetrics: manager.collectsMetrics,
            to: .handler { outcome in session.delegateQueue.addLasting { then((outcome, delegate)) } }
        )
        control.watchers.tell(.createdTask(task))
        manager.core.post(.operationDidStart, self)
        let isGoing = facts.withLock { facts in
            facts.task = task
            facts.isStopping = facts.isPaused
            return !facts.isPaused
        }
        // A request that its tag or its deadline cancels ends its task too.
        if isGoing, !isCancelled { control.begin(task) } else { task.cancel() }
    }

    private func continues(behind ended: Ended) -> Bool {
        let isPause = facts.withLock { facts -> Bool? in
            let isPause = facts.isStopping
            (facts.task, facts.isStopping) = (nil, false)
            // The task may have ended before the pause stopped it.
            guard facts.asksAgain || isPause && ended.outcome.error?.code == .cancelled, facts.failure == nil,
                !isCancelled
            else { return nil }
            facts.asksAgain = false
            return isPause
        }
        guard let isPause else { return false }
        if isPause { manager.core.post(.operationDidFinish, self) }
        ended.delegate.open()
        return true
    }

    private func receive(_ data: Data) -> Bool {
        guard facts.withLock({ $0.failure == nil }) else { return false }
        let count = sink.withLock { sink -> Int64? in
            guard let held = sink?.count else { return nil }
            if outputStream == nil, held + Int64(data.count) > limit {
                facts.withLock { $0.failure = excess }
                return nil
            }
            do throws(OperationFailure) {
                try sink?.write(data)
            } catch {
                facts.withLock { $0.failure = .output(error) }
                return nil
            }
            return sink?.count
        }
        guard let count else { return false }
        risingProgress?(TransferProgress(count, of: facts.withLock { $0.total }))
        return true
    }

    /// Changes a state, and notifies the operation queue, which reads the state only then.
    private func changing<Value, Made>(_ state: KeyPath<Operation, Value>, _ change: () -> Made) -> Made {
        willChangeValue(for: state)
        defer { didChangeValue(for: state) }
        return change()
    }
}

/// The received content of an operation.
extension HTTPRequestOperation {
    /// The content in memory, of a complete answer with any status. Nil before the end, after a failure of the network,
    /// and where the content goes to an output stream.
    public var responseData: Data? {
        guard outputStream == nil, let result, result.error.map({ $0.response != nil }) ?? true else { return nil }
        return result.data
    }

    /// The content as text: decoded by its charset, else as UTF-8, else as ISO 8859-1.
    public var responseString: String? {
        guard let data = responseData else { return nil }
        return try? StringResponseSerializer().serialize(ReceivedResponse(response: response, data: data))
    }
}

/// The steps from the end of a task to the end of its operation: the handlers, the notification and the operations that
/// wait for the task.
extension HTTPRequestOperation {
    private var excess: UncurlError {
        let words =
            "The answer is longer than the \(limit) bytes that an operation keeps in memory; maximumDataLength of "
            + "URLSessionConfiguration, URLRequest and RequestOptions sets the limit, and an output stream has none."
        return .transport(URLError(.dataLengthExceedsMaximum, words: words))
    }

    private var cancelled: Response<any Sendable> { Response(ResponseFacts(request, error: .cancelled)) }

    private func made(of ended: Ended, _ retryCount: Int) -> Response<any Sendable> {
        let (outcome, delegate) = ended
        let (failure, head) = facts.withLock { ($0.failure, $0.response) }
        let whole = TaskOutcome(
            task: outcome.task,
            response: head ?? outcome.response,
            data: sink.withLock { $0?.data ?? Data() },
            file: nil,
            // All of the answer may have come before the sink's failure could stop it.
            error: failure == nil ? outcome.error : outcome.error ?? URLError(.cannotWriteToFile),
            metrics: outcome.metrics
        )
        let response = delegate.response(
            to: whole,
            by: serializer,
            options.validation(else: serializer.validation, manager.core.settings.values.options),
            failure: failure,
            retryCount: retryCount
        )
        control.watchers.tell(.serialized(statusCode: response.statusCode, response.error))
        return Response(response)
    }

    private func tell(_ ended: Ended?, _ response: Response<any Sendable>) {
        if let ended { ended.delegate.tellEnd(of: ended.outcome.task, response.facts, serializer) }
    }

    /// - Parameters:
    ///   - given: the response; the deadline may replace its failure.
    ///   - last: the end of the last attempt's task, if it had one. It is told after the handlers, on their queue.
    private func finish(_ given: Response<any Sendable>, _ last: Ended? = nil) {
        let response = given.error.map { given.failing(control.reason(for: $0)) } ?? given
        if response.error != nil { last?.delegate.note(response.facts) }
        control.finish(response.statusCode, response.error, retryCount: response.retryCount)
        sink.withLock { $0?.close() }
        let handlers = changing(\.isFinished) {
            changing(\.isExecuting) {
                facts.withLock { facts in
                    facts.isExecuting = false
                    facts.result = response
                    defer { facts.handlers = [] }
                    return facts.handlers
                }
            }
        }
        call(handlers, response) { [self] in
            manager.core.post(.operationDidFinish, self)
            tell(last, response)
        }
    }

    private func call(
        _ handlers: [@Sendable (Response<any Sendable>) -> Void],
        _ response: Response<any Sendable>,
        then: @escaping @Sendable () -> Void = {}
    ) {
        let group = manager.completionGroup ?? ManagerCore.sharedGroup
        (manager.completionQueue ?? manager.core.ownQueue).async(group: group) {
            for handler in handlers { handler(response) }
            then()
        }
    }
}
