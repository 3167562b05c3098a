internal import Synchronization
public import URLLoading

/// Makes and queues operations, as AFNetworking 2's manager did. The queue's limits and the operations' priorities and
/// dependencies decide what runs when. All other settings are those of its ``manager``.
///
/// ```swift
/// let operations = HTTPRequestOperationManager(baseURL: URL(string: "https://api.example.com/v1"))
/// operations.operationQueue.maxConcurrentOperationCount = 2
/// try operations.get("users/1") { response in print(response.value ?? "") }
/// ```
public final class HTTPRequestOperationManager: Sendable {
    /// Provides the session, the base URL, the serializers, the policy and the completion queue.
    public let manager: HTTPSessionManager
    /// The queue on which operations run.
    public let operationQueue: OperationQueue
    private let settings = Mutex<(credential: URLCredential?, shouldUseCredentialStorage: Bool)>((nil, true))

    /// A manager of operations.
    ///
    /// - Parameters:
    ///   - manager: makes the requests and has the session.
    ///   - operationQueue: where operations run.
    public init(manager: HTTPSessionManager, operationQueue: OperationQueue = OperationQueue()) {
        self.manager = manager
        self.operationQueue = operationQueue
    }

    /// A manager of operations with a session of its own.
    public convenience init(baseURL: URL? = nil, configuration: URLSessionConfiguration = .default) {
        self.init(manager: HTTPSessionManager(baseURL: baseURL, configuration: configuration))
    }

    /// Answers the first challenge of each operation that is not about trust. An operation copies it when it is made. A
    /// request's own ``RequestOptions/credential`` replaces it.
    public var credential: URLCredential? {
        get { settings.withLock { $0.credential } }
        set { settings.withLock { $0.credential = newValue } }
    }

    /// Whether the session's credential storage may answer challenges that have no other answer. By default true.
    public var shouldUseCredentialStorage: Bool {
        get { settings.withLock { $0.shouldUseCredentialStorage } }
        set { settings.withLock { $0.shouldUseCredentialStorage = newValue } }
    }

    /// Makes an operation that is not queued yet.
    ///
    /// - Parameters:
    ///   - request: a request with content of any kind, or without content.
    ///   - serializer: makes the value of the answer; nil for the manager's.
    ///   - completion: called once, on the manager's completion queue.
    /// - Throws: the reason why the request cannot be built.
    public func operation(
        _ request: HTTPRequest,
        serializer: (any ResponseSerializer)? = nil,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) throws(UncurlError) -> HTTPRequestOperation {
        let operation = try HTTPRequestOperation(
            request,
            manager: manager,
            serializer: serializer,
            credential: request.options.credential == nil ? credential : nil,
            shouldUseCredentialStorage: shouldUseCredentialStorage
        )
        operation.onCompletion(completion)
        return operation
    }

    /// Makes an operation and queues it. The arguments and errors are those of ``operation(_:serializer:completion:)``.
    @discardableResult
    public func enqueue(
        _ request: HTTPRequest,
        serializer: (any ResponseSerializer)? = nil,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) throws(UncurlError) -> HTTPRequestOperation {
        let operation = try operation(request, serializer: serializer, completion: completion)
        operationQueue.addOperation(operation)
        return operation
    }

    /// Queues a GET.
    @discardableResult
    public func get(
        _ path: String,
        parameters: Parameters? = nil,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) throws(UncurlError) -> HTTPRequestOperation {
        try enqueue(HTTPRequest(.get, path, parameters: parameters), completion: completion)
    }

    /// Queues a HEAD.
    @discardableResult
    public func head(
        _ path: String,
        parameters: Parameters? = nil,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) throws(UncurlError) -> HTTPRequestOperation {
        try enqueue(HTTPRequest(.head, path, parameters: parameters), serializer: .data, completion: completion)
    }

    /// Queues a POST.
    @discardableResult
    public func post(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) throws(UncurlError) -> HTTPRequestOperation {
        try enqueue(HTTPRequest(.post, path, parameters: parameters, body: body), completion: completion)
    }

    /// Queues a PUT.
    @discardableResult
    public func put(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) throws(UncurlError) -> HTTPRequestOperation {
        try enqueue(HTTPRequest(.put, path, parameters: parameters, body: body), completion: completion)
    }

    /// Queues a PATCH.
    @discardableResult
    public func patch(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) throws(UncurlError) -> HTTPRequestOperation {
        try enqueue(HTTPRequest(.patch, path, parameters: parameters, body: body), completion: completion)
    }

    /// Queues a DELETE.
    @discardableResult
    public func delete(
        _ path: String,
        parameters: Parameters? = nil,
        completion: @escaping @Sendable (Response<any Sendable>) -> Void = { _ in }
    ) throws(UncurlError) -> HTTPRequestOperation {
        try enqueue(HTTPRequest(.delete, path, parameters: parameters), completion: completion)
    }
}

extension HTTPRequestOperation {
    /// Makes one more operation that depends on all the given ones.
    ///
    /// - Parameters:
    ///   - operations: none of them queued yet.
    ///   - progress: called after each operation's own handlers, on the manager's completion queue, with the number of
    ///     ended operations and the number of all.
    ///   - completion: called by the last operation after every call of `progress`, also for an empty batch.
    /// - Returns: the operations in their order, then the last one. None of them is queued.
    public static func batch(
        _ operations: [HTTPRequestOperation],
        progress: (@Sendable (_ finished: Int, _ total: Int) -> Void)? = nil,
        completion: @escaping @Sendable ([HTTPRequestOperation]) -> Void
    ) -> [Operation] {
        let ended = Atomic(0)
        let last = BlockOperation { completion(operations) }
        for operation in operations {
            // The last operation does not block until the others end: it might hold the thread that a handler needs.
            let told = BlockOperation()
            last.addDependency(operation)
            last.addDependency(told)
            operation.onCompletion { _ in
                progress?(ended.add(1, ordering: .relaxed).newValue, operations.count)
                told.start()
            }
        }
        return operations + [last]
    }
}
