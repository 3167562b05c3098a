public import URLLoading

/// A session manager for one service. Requests name references that are resolved against its base URL, and one
/// serializer writes their parameters.
///
/// ```swift
/// let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1")!)
/// let user = try await manager.get("users/1", as: User.self)
/// ```
open class HTTPSessionManager: URLSessionManager, @unchecked Sendable {
    /// A manager for one service.
    ///
    /// - Parameters:
    ///   - baseURL: the URL that references are resolved against (RFC 3986 §5). A slash is added to a path without one
    ///     at its end. Only a reference with a scheme names another host; one that begins with `//` is an error. Nil:
    ///     requests name whole URLs.
    ///   - configuration: the session's configuration. It is copied. If its `httpCookieStorage` was not set, the
    ///     manager has a storage of its own, in memory: see <doc:Cookies>.
    ///   - hooks: the ``URLSessionManager/hooks``, set before the first event.
    ///   - sessionHooks: the ``URLSessionManager/sessionHooks``, set before the first event.
    public init(
        baseURL: URL? = nil,
        configuration: URLSessionConfiguration = .default,
        hooks: TaskHooks = TaskHooks(),
        sessionHooks: SessionHooks = SessionHooks()
    ) {
        super.init(baseURL.map { BaseURL($0) }, configuration, hooks, sessionHooks)
    }

    /// A manager with the same base URL, configuration, serializers, defaults and policy. Hooks are not copied.
    public init(copying other: HTTPSessionManager) { super.init(copying: other as URLSessionManager) }

    /// The URL that references are resolved against. Nil: requests name whole URLs.
    public var baseURL: URL? { base?.url }

    /// Whether a reference may lead only to the base URL's origin: its scheme, host and port (RFC 9110 §4.3.1). A
    /// reference to another origin, such as `http://other.example/users`, then fails with
    /// ``UncurlError/invalidURL(_:reason:)``. By default false: a whole URL replaces the base URL, and the manager's
    /// fields go to its server. Set it where references contain what others wrote.
    ///
    /// Redirects are not references: see ``URLSessionManager/redirects``. A request made of a `URLRequest` is sent as
    /// it is.
    public var staysAtBaseOrigin: Bool {
        get { core.staysAtBaseOrigin }
        _modify { yield &core.staysAtBaseOrigin }
    }

    /// Puts parameters into requests. By default an ``HTTPRequestSerializer``.
    public var requestSerializer: any RequestSerializer {
        get { core.requestSerializer }
        _modify { yield &core.requestSerializer }
    }

    /// What every request of this manager gets, whichever serializer it uses. By default nothing.
    ///
    /// A request's own fields and options come before these, and these before the serializer's defaults. A request made
    /// of a `URLRequest` gets none of them. A change applies to requests that are made after it. Changes on several
    /// threads are all kept.
    public var requestDefaults: RequestDefaults {
        get { core.requestDefaults }
        _modify { yield &core.requestDefaults }
    }

    /// - Throws: ``SecurityPolicyError/pinsWithoutTLS(base:)`` for a policy that pins where the base URL is not https:
    ///   there would be no certificate to compare.
    open override func setSecurityPolicy(_ policy: any ServerTrustEvaluator) throws(SecurityPolicyError) {
        if policy.isPinning, baseURL?.scheme?.lowercased() != "https" {
            throw .pinsWithoutTLS(base: baseURL)
        }
        try super.setSecurityPolicy(policy)
    }
}

/// One method for each common request. Each waits for the answer and returns its value; cancelling the Swift task
/// cancels the request.
///
/// The methods with content return ``EmptyResponse`` if no type is given. It is made of any acceptable answer, whatever
/// its content: use it for a 204, and where the content does not matter.
///
/// The manager's request serializer writes the parameters. If a request has a `body`, its parameters go into the query.
/// A literal makes ``Parameters``, which keep the given order.
extension HTTPSessionManager {
    /// Sends a GET.
    ///
    /// - Parameters:
    ///   - path: a reference that is resolved against the base URL, or a URL.
    ///   - parameters: the values that the request serializer puts into the query.
    ///   - headers: fields that replace the serializer's.
    ///   - type: the type that ``URLSessionManager/decoder`` decodes.
    /// - Throws: ``UncurlError/validation(_:)`` for a status outside 200 to 299 and for a content type that the decoder
    ///   does not read, ``UncurlError/serialization(_:)`` for content that cannot be decoded,
    ///   ``UncurlError/transport(_:)`` for a failure of the network.
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.get, path, parameters: parameters, headers: headers), type)
    }

    /// Sends a GET whose parameters are a value of the program's own type.
    ///
    /// - Throws: what `get(_:parameters:headers:as:)` throws, and ``UncurlError/parameters(_:)`` for a value that
    ///   cannot be written as a query.
    @_disfavoredOverload
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.get, path, headers: headers, body: .encoded(parameters)), type)
    }

    /// Sends a HEAD and returns the head of the answer, which has no content.
    ///
    /// - Throws: what `get(_:parameters:headers:as:)` throws.
    public func head(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders()
    ) async throws(UncurlError) -> HTTPURLResponse {
        try await head(of: HTTPRequest(.head, path, parameters: parameters, headers: headers))
    }

    /// Sends a HEAD. The parameters are a value of the program's own type, and go into the query.
    ///
    /// - Throws: what the GET with such parameters throws.
    @_disfavoredOverload
    public func head(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders()
    ) async throws(UncurlError) -> HTTPURLResponse {
        try await head(of: HTTPRequest(.head, path, headers: headers, body: .encoded(parameters)))
    }

    /// Sends a POST.
    ///
    /// ```swift
    /// let made = try await manager.post("users", body: .json(User()), as: User.self)
    /// ```
    ///
    /// - Parameters:
    ///   - path: a reference that is resolved against the base URL, or a URL.
    ///   - parameters: the content, in the request serializer's format. With a `body` they go into the query, with a
    ///     form they become its first fields.
    ///   - body: the content: ``RequestBody/json(_:encoder:)``, ``RequestBody/form(_:)``, data, a file, a stream, or a
    ///     form of several parts.
    ///   - headers: fields that replace the serializer's.
    ///   - progress: called on the session's delegate queue with the progress of the request's content.
    ///   - type: the type that ``URLSessionManager/decoder`` decodes from the answer's content.
    /// - Throws: what `get(_:parameters:headers:as:)` throws, ``UncurlError/parameters(_:)`` for a value that cannot be
    ///   written, and ``UncurlError/multipart(_:)`` for a form that cannot be sent.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.post, path, parameters: parameters, headers: headers, body: body), type, progress)
    }

    /// Sends a POST whose parameters are a value of the program's own type, in the request serializer's format.
    ///
    /// - Throws: what ``post(_:parameters:body:headers:progress:as:)`` throws.
    @discardableResult
    @_disfavoredOverload
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.post, path, headers: headers, body: .encoded(parameters)), type)
    }

    /// Sends a PUT. Arguments and errors are those of ``post(_:parameters:body:headers:progress:as:)``.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.put, path, parameters: parameters, headers: headers, body: body), type, progress)
    }

    /// Sends a PUT whose parameters are a value of the program's own type, in the request serializer's format.
    @discardableResult
    @_disfavoredOverload
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.put, path, headers: headers, body: .encoded(parameters)), type)
    }

    /// Sends a PATCH. Arguments and errors are those of ``post(_:parameters:body:headers:progress:as:)``.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.patch, path, parameters: parameters, headers: headers, body: body), type, progress)
    }

    /// Sends a PATCH whose parameters are a value of the program's own type, in the request serializer's format.
    @discardableResult
    @_disfavoredOverload
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.patch, path, headers: headers, body: .encoded(parameters)), type)
    }

    /// Sends a DELETE. Parameters go into the query; the other arguments and the errors are those of
    /// ``post(_:parameters:body:headers:progress:as:)``.
    @discardableResult
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.delete, path, parameters: parameters, headers: headers, body: body), type)
    }

    /// Sends a DELETE. The parameters are a value of the program's own type, and go into the query.
    @discardableResult
    @_disfavoredOverload
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(HTTPRequest(.delete, path, headers: headers, body: .encoded(parameters)), type)
    }

    // MARK: Private

    private func head(of request: HTTPRequest) async throws(UncurlError) -> HTTPURLResponse {
        let response = await response(to: request, serializer: .data)
        _ = try response.result.get()
        guard let head = response.response else { throw .transport(URLError(.badServerResponse)) }
        return head
    }

    private func value<Value: Decodable & Sendable>(
        _ request: HTTPRequest,
        _ type: Value.Type,
        _ progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(UncurlError) -> Value {
        var request = request
        if let progress { request.options.uploadProgress = progress }
        guard let nothing = EmptyResponse() as? Value else {
            return try await response(to: request, serializer: .decodable(type)).result.get()
        }
        _ = try await response(to: request, serializer: .data).result.get()
        return nothing
    }
}

/// Sends any request. The request is a value, and each method here returns its response in another way.
///
/// The end of a request is reported in this order: its completion handler, the notification
/// ``URLSessionManager/taskDidComplete``, the operations of ``TaskDelegate/queue``, then the caller that awaits the
/// response. The first three run on the ``completionQueue``, one after the other.
extension URLSessionManager {
    /// Sends a request and waits for the response. Cancelling the Swift task cancels the request.
    public func response<Serializer: ResponseSerializer>(
        to request: HTTPRequest,
        serializer: Serializer
    ) async -> Response<Serializer.Value> {
        Response(await resumed(TransferRun(self, request.options, by: serializer), request).response(to: request))
    }

    /// Sends a request and makes the value with the manager's ``URLSessionManager/responseSerializer``.
    public func response(to request: HTTPRequest) async -> Response<any Sendable> {
        await response(to: request, serializer: AnyResponseSerializer(responseSerializer))
    }

    /// Downloads to a file.
    ///
    /// - Parameters:
    ///   - request: a request with content of any kind, or without content.
    ///   - destination: where the file goes. Without a destination the file stays where it is, and the caller moves or
    ///     deletes it.
    public func download(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil
    ) async -> Response<URL> {
        let run = TransferRun(self, request.options, by: .file, .file, to: destination)
        return Response(await resumed(run, request).response(to: request))
    }

    /// Downloads to a file over several connections at once. It helps where a server or the route to it limits the rate
    /// of one connection.
    ///
    /// Each part is requested with Range and If-Range (RFC 9110 §13.1.5, §14.2). A part that breaks off is requested
    /// again from its first missing byte. The file is complete when every part has come and its length is the one that
    /// the server named. One connection loads the whole content instead if the server sends no parts (206), names no
    /// strong validator, or changes its content meanwhile.
    ///
    /// The head of the response is that of the first part. A download that fails or is cancelled has resume data for
    /// the content that came without a gap, for ``download(resuming:to:options:)``. To interceptors, monitors and
    /// hooks, each part is a request of its own, and ``transfers`` has the parts under way besides the whole download.
    /// While the whole download is suspended, no part begins and no content is read.
    ///
    /// The deadline, the progress and ``RequestOptions/throttle`` are those of the whole download: each connection gets
    /// an equal share of the rates, also while fewer run. ``RequestOptions/onResponse`` is called with the head of the
    /// first part. It is called again only if the content changes meanwhile and is loaded again, which is another
    /// answer.
    ///
    /// - Parameters:
    ///   - request: a GET without content. Any other request is loaded over one connection.
    ///   - destination: where the file goes. Without a destination the file stays where it is, and the caller moves or
    ///     deletes it.
    ///   - segments: the number of parts that are requested at once, up to 16. The session's
    ///     `httpMaximumConnectionsPerHost` limits it too. With 1 or less, there is one connection.
    public func download(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil,
        segments: Int
    ) async -> Response<URL> {
        let isPlain = if case .parameters = request.body { true } else { false }
        guard segments > 1, request.method == .get, isPlain, !request.headers.contains("Range"),
            request.whole.map({ $0.value(forHTTPHeaderField: "Range") == nil && !$0.hasContent }) ?? true,
            !configuration.isBackground
        else { return await download(request, to: destination) }
        return await SegmentedDownload(self, request, destination, min(segments, 16)).response()
    }

    /// Downloads to a file and makes a value of it, for an answer that is too long to be kept in memory.
    ///
    /// - Parameters:
    ///   - request: a request with content of any kind, or without content.
    ///   - destination: where the file goes. Without a destination it is deleted when the value has been made, unless
    ///     a hook gives it a place.
    ///   - type: the type that ``decoder`` decodes from the content.
    public func download<Value: Decodable & Sendable>(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil,
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        let run = TransferRun(self, request.options, by: .decodable(type), .serializedFile, to: destination)
        return try Response<Value>(await resumed(run, request).response(to: request)).result.get()
    }

    /// Resumes a download. It starts over if the server's content has changed. Interceptors and options apply to the
    /// request for the rest as to any other. At another origin, to which a redirect has led the download,
    /// ``RequestOptions/credential`` and ``AuthenticationInterceptor`` do not apply.
    public func download(
        resuming data: Data,
        to destination: DownloadDestination? = nil,
        options: RequestOptions = RequestOptions()
    ) async -> Response<URL> {
        let run = TransferRun(self, options, by: .file, .rest(data), to: destination)
        return Response(await resumed(run, nil).response(to: HTTPRequest("", options: options)))
    }

    /// Begins the request and returns its transfer. `completion` is called once, on the completion queue.
    @discardableResult
    public func start<Serializer: ResponseSerializer>(
        _ request: HTTPRequest,
        serializer: Serializer,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void = { _ in }
    ) -> Transfer<Serializer.Value> {
        let run = resumed(TransferRun(self, request.options, by: serializer), request)
        return Transfer(run.control, Task { await run.response(to: request, completion) })
    }

    /// Makes a transfer that has not begun. ``Transfer/resume()`` begins it. If the program releases it before, with
    /// its control, it is never sent, and `completion` is not called.
    public func transfer<Serializer: ResponseSerializer>(
        _ request: HTTPRequest,
        serializer: Serializer,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void = { _ in }
    ) -> Transfer<Serializer.Value> {
        held(request, serializer, .answer, nil, completion)
    }

    /// Makes a download that has not begun; see ``transfer(_:serializer:completion:)``.
    public func downloadTransfer(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil,
        completion: @escaping @Sendable (Response<URL>) -> Void = { _ in }
    ) -> Transfer<URL> {
        held(request, .file, .file, destination, completion)
    }

    // MARK: Runs

    /// - Parameter request: what monitors hear of; nil for a resumed download.
    func resumed(_ run: TransferRun, _ request: @autoclosure () -> HTTPRequest?) -> TransferRun {
        run.control.tellFirst(.began(request()))
        run.control.resume()
        return run
    }

    /// A transfer whose run is made when it begins. Before, only the program retains the control.
    private func held<Serializer: ResponseSerializer>(
        _ request: HTTPRequest,
        _ serializer: Serializer,
        _ kind: TransferRun.Kind,
        _ destination: DownloadDestination?,
        _ completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> Transfer<Serializer.Value> {
        let (settings, options) = (core.settings, request.options)
        let control = TransferControl(settings.values.monitors, in: core.transfers, tag: options.tag)
        control.tellFirst(.began(request))
        let start = control.start()
        let task = Task {
            for await control in start {
                let run = TransferRun(self, settings, control, options, by: serializer, kind, to: destination)
                return await run.response(to: request, completion)
            }
            return Response(ResponseFacts(nil, error: .cancelled))
        }
        return Transfer(control, task)
    }
}

extension TransferRun {
    fileprivate func response<Value: Sendable>(
        to request: HTTPRequest,
        _ completion: @escaping @Sendable (Response<Value>) -> Void
    ) async -> Response<Value> {
        Response(await response(to: request) { completion(Response($0)) })
    }
}

extension URLRequest {
    fileprivate var hasContent: Bool { httpBody != nil || httpBodyStream != nil || content != nil }
}

/// A request under way, with its response.
public struct Transfer<Value: Sendable>: Sendable {
    /// Controls the request, for code that does not need its value.
    public let control: TransferControl
    private let run: Task<Response<Value>, Never>

    init(_ control: TransferControl, _ run: Task<Response<Value>, Never>) {
        self.control = control
        self.run = run
    }

    /// Waits for the end. A Swift task that is cancelled while it waits cancels the transfer.
    public var response: Response<Value> {
        get async {
            await withTaskCancellationHandler {
                await run.value
            } onCancel: {
                control.cancel()
            }
        }
    }

    /// Waits for the value. A Swift task that is cancelled while it waits cancels the transfer.
    public var value: Value {
        get async throws(UncurlError) { try await response.result.get() }
    }

    /// The progress of the request's content, as a sequence:
    ///
    /// ```swift
    /// for await progress in transfer.uploadProgress() { print(progress.completed) }
    /// ```
    ///
    /// Each call makes a sequence of its own. It begins with the next value and ends with the transfer.
    public func uploadProgress() -> ProgressSequence { control.sequence(\.uploadReaders) }

    /// The progress of the response's content, as ``uploadProgress()`` returns it for the request's.
    public func downloadProgress() -> ProgressSequence { control.sequence(\.downloadReaders) }

    /// Cancels the request; see ``TransferControl/cancel()``.
    public func cancel() { control.cancel() }
    /// Suspends the request; see ``TransferControl/suspend()``.
    public func suspend() { control.suspend() }
    /// Begins or continues the request; see ``TransferControl/resume()``.
    public func resume() { control.resume() }
}
