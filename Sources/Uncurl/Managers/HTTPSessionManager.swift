public import URLLoading
internal import UncurlText

/// A session manager for one service. Requests name references that are resolved against its base URL, and one
/// serializer writes their parameters.
///
/// ```swift
/// let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1")!)
/// let user = try await manager.get("users/1", as: User.self)
/// ```
open class HTTPSessionManager: URLSessionManager, @unchecked Sendable {
    /// One manager for the whole process: requests name whole URLs, and the configuration is the default. What is set
    /// on it holds for all code that uses it, its cookies too.
    public static let shared = HTTPSessionManager()

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

/// One method for each common request. Each waits for the response and returns its value; cancelling the Swift task
/// cancels the request.
///
/// `as:` names the type of the value. A `String` is the body as text (``StringResponseSerializer``), `Data` is the body
/// as it is; both take any content type. An ``EmptyResponse`` is made of any acceptable response, whatever its body:
/// use it for a 204, and where the body does not matter. Methods that send a body return it if no type is given. Any
/// other type is decoded by ``URLSessionManager/decoder``.
///
/// The manager's request serializer writes the parameters. If a request has a `body`, its parameters go into the query.
/// A literal makes ``Parameters``, which keep the given order.
extension HTTPSessionManager {
    /// Sends a GET.
    ///
    /// - Parameters:
    ///   - path: a reference that is resolved against the base URL, or a URL.
    ///   - parameters: the values that the request serializer puts into the query.
    ///   - headers: headers that replace the serializer's.
    ///   - options: the settings of this request that differ from its manager's.
    ///   - type: the type of the value.
    /// - Throws: ``UncurlError/validation(_:)`` for a status outside 200 to 299 and for a content type that the decoder
    ///   does not read, ``UncurlError/serialization(_:)`` for a body that cannot be decoded,
    ///   ``UncurlError/transport(_:)`` for a failure of the network.
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.get, path, parameters, .parameters, headers, options), as: type)
    }

    /// Sends a GET whose parameters are a value of the program's own type.
    ///
    /// - Throws: what `get(_:parameters:headers:options:as:)` throws, and ``UncurlError/parameters(_:)`` for a value
    ///   that cannot be written as a query.
    @_disfavoredOverload
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.get, path, nil, .encoded(parameters), headers, options), as: type)
    }

    /// Sends a GET and returns the body as text, by the charset that ``StringResponseSerializer`` finds.
    ///
    /// - Throws: what `get(_:parameters:headers:options:as:)` throws.
    public func text(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions()
    ) async throws(UncurlError) -> String {
        try await get(path, parameters: parameters, headers: headers, options: options, as: String.self)
    }

    /// Sends a GET and returns the body as text. The parameters are a value of the program's own type.
    @_disfavoredOverload
    public func text(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions()
    ) async throws(UncurlError) -> String {
        try await get(path, parameters: parameters, headers: headers, options: options, as: String.self)
    }

    /// Sends a GET and returns the body as it is.
    ///
    /// - Throws: what `get(_:parameters:headers:options:as:)` throws.
    public func data(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions()
    ) async throws(UncurlError) -> Data {
        try await get(path, parameters: parameters, headers: headers, options: options, as: Data.self)
    }

    /// Sends a GET and returns the body as it is. The parameters are a value of the program's own type.
    @_disfavoredOverload
    public func data(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions()
    ) async throws(UncurlError) -> Data {
        try await get(path, parameters: parameters, headers: headers, options: options, as: Data.self)
    }

    /// Sends a HEAD and returns the head of the response, which has no body.
    ///
    /// - Throws: what `get(_:parameters:headers:options:as:)` throws.
    public func head(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions()
    ) async throws(UncurlError) -> HTTPURLResponse {
        try await head(of: HTTPRequest(.head, path, parameters, .parameters, headers, options))
    }

    /// Sends a HEAD. The parameters are a value of the program's own type, and go into the query.
    ///
    /// - Throws: what the GET with such parameters throws.
    @_disfavoredOverload
    public func head(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions()
    ) async throws(UncurlError) -> HTTPURLResponse {
        try await head(of: HTTPRequest(.head, path, nil, .encoded(parameters), headers, options))
    }

    /// Sends a POST.
    ///
    /// ```swift
    /// let made = try await manager.post("users", body: .json(User()), as: User.self)
    /// ```
    ///
    /// - Parameters:
    ///   - path: a reference that is resolved against the base URL, or a URL.
    ///   - parameters: the body, in the request serializer's format. With a `body` they go into the query, with a form
    ///     they become its first fields.
    ///   - body: the body: `.json(_:)`, ``RequestBody/form(_:)``, data, a file, a stream, or a form of several parts.
    ///   - headers: headers that replace the serializer's.
    ///   - options: the settings of this request that differ from its manager's.
    ///   - progress: called on the session's delegate queue with the progress of the request's body. It replaces
    ///     ``RequestOptions/uploadProgress``.
    ///   - type: the type of the value.
    /// - Throws: what `get(_:parameters:headers:options:as:)` throws, ``UncurlError/parameters(_:)`` for a value that
    ///   cannot be written, and ``UncurlError/multipart(_:)`` for a form that cannot be sent.
    @discardableResult
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.post, path, parameters, body, headers, options, progress), as: type)
    }

    /// Sends a POST whose parameters are a value of the program's own type, in the request serializer's format.
    ///
    /// - Throws: what ``post(_:parameters:body:headers:options:progress:as:)`` throws.
    @discardableResult
    @_disfavoredOverload
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.post, path, nil, .encoded(parameters), headers, options), as: type)
    }

    /// Sends a PUT. Arguments and errors are those of
    /// ``post(_:parameters:body:headers:options:progress:as:)``.
    @discardableResult
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.put, path, parameters, body, headers, options, progress), as: type)
    }

    /// Sends a PUT whose parameters are a value of the program's own type, in the request serializer's format.
    @discardableResult
    @_disfavoredOverload
    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.put, path, nil, .encoded(parameters), headers, options), as: type)
    }

    /// Sends a PATCH. Arguments and errors are those of
    /// ``post(_:parameters:body:headers:options:progress:as:)``.
    @discardableResult
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.patch, path, parameters, body, headers, options, progress), as: type)
    }

    /// Sends a PATCH whose parameters are a value of the program's own type, in the request serializer's format.
    @discardableResult
    @_disfavoredOverload
    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.patch, path, nil, .encoded(parameters), headers, options), as: type)
    }

    /// Sends a DELETE. Parameters go into the query; the other arguments and the errors are those of
    /// ``post(_:parameters:body:headers:options:progress:as:)``.
    @discardableResult
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        body: RequestBody = .parameters,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.delete, path, parameters, body, headers, options, progress), as: type)
    }

    /// Sends a DELETE. The parameters are a value of the program's own type, and go into the query.
    @discardableResult
    @_disfavoredOverload
    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(),
        options: RequestOptions = RequestOptions(),
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.delete, path, nil, .encoded(parameters), headers, options), as: type)
    }

    private func head(of request: HTTPRequest) async throws(UncurlError) -> HTTPURLResponse {
        let response = await response(to: request, serializer: .data)
        _ = try response.result.get()
        guard let head = response.response else { throw .transport(URLError(.badServerResponse)) }
        return head
    }
}

extension HTTPRequest {
    fileprivate init(
        _ method: HTTPMethod,
        _ path: String,
        _ parameters: Parameters?,
        _ body: RequestBody,
        _ headers: HTTPHeaders,
        _ options: RequestOptions,
        _ progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.init(method, path, parameters: parameters, headers: headers, body: body, options: options)
        if let progress { self.options.uploadProgress = progress }
    }

    /// The request with this reader of the progress of its download, if there is one.
    fileprivate func telling(_ progress: (@Sendable (TransferProgress) -> Void)?) -> HTTPRequest {
        var request = self
        if let progress { request.options.downloadProgress = progress }
        return request
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

    /// Sends a request and returns the value of its response, with the arguments and errors of the manager's verbs.
    ///
    /// ```swift
    /// let user = try await manager.value(of: HTTPRequest(.query, "users", body: .json(filter)), as: User.self)
    /// ```
    @discardableResult
    public func value<Value: Decodable & Sendable>(
        of request: HTTPRequest,
        as type: Value.Type = EmptyResponse.self
    ) async throws(UncurlError) -> Value {
        let run = TransferRun(self, request.options, by: bodySerializer(of: type))
        return try Response<Value>(await resumed(run, request).response(to: request)).result.get()
    }

    /// Downloads to a file and returns the URL of the file, which belongs to the caller.
    ///
    /// ```swift
    /// try await manager.download("big.iso", to: .file(place), progress: { print($0.fraction ?? 0) })
    /// ```
    ///
    /// - Parameters:
    ///   - request: a request with a body of any kind, or without a body. A string literal makes a GET.
    ///   - destination: where the file goes. Without a destination the file stays where it is, and the caller moves or
    ///     deletes it.
    ///   - segments: the number of connections; see ``downloadResponse(_:to:segments:)``.
    ///   - progress: called on the session's delegate queue with the progress of the response's body. It replaces
    ///     ``RequestOptions/downloadProgress``.
    /// - Throws: ``UncurlError/validation(_:)`` for a status outside 200 to 299, ``UncurlError/file(_:)`` for a file
    ///   that cannot be put at its place, ``UncurlError/transport(_:)`` for a failure of the network. The resume data
    ///   of a download that broke off is in the response of ``downloadResponse(_:to:segments:)``.
    @discardableResult
    public func download(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil,
        segments: Int = 1,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(UncurlError) -> URL {
        try await downloadResponse(request.telling(progress), to: destination, segments: segments).result.get()
    }

    /// Downloads to a file and returns the response, which also says how a failed download can be resumed.
    ///
    /// With several segments, the file comes over several connections at once. That helps where a server or the route
    /// to it limits the rate of one connection.
    ///
    /// Each part is requested with Range and If-Range (RFC 9110 §13.1.5, §14.2). A part that breaks off is requested
    /// again from its first missing byte. The file is complete when every part has come and its length is the one that
    /// the server named. One connection loads the whole body instead if the server sends no parts (206), names no
    /// strong validator, or changes the file meanwhile.
    ///
    /// The head of the response is that of the first part. A download that fails or is cancelled has resume data for
    /// the bytes that came without a gap, for ``download(resuming:to:options:progress:)``. To interceptors, monitors
    /// and hooks, each part is a request of its own, and ``transfers`` has the parts under way besides the whole
    /// download. While the whole download is suspended, no part begins and nothing is read.
    ///
    /// The deadline, the progress and ``RequestOptions/throttle`` are those of the whole download: each connection gets
    /// an equal share of the rates, also while fewer run. ``RequestOptions/onResponse`` is called with the head of the
    /// first part. It is called again only if the file changes meanwhile and is loaded again, which is another
    /// response.
    ///
    /// - Parameters:
    ///   - request: a request with a body of any kind, or without a body. Several segments need a GET without a body;
    ///     any other request is loaded over one connection.
    ///   - destination: where the file goes. Without a destination the file stays where it is, and the caller moves or
    ///     deletes it.
    ///   - segments: the number of parts that are requested at once, up to 16. The session's
    ///     `httpMaximumConnectionsPerHost` limits it too. With 1 or less, there is one connection.
    public func downloadResponse(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil,
        segments: Int = 1
    ) async -> Response<URL> {
        let isPlain = if case .parameters = request.body { true } else { false }
        guard segments > 1, request.method == .get, isPlain, !request.headers.contains("Range"),
            request.whole.map({ $0.value(forHTTPHeaderField: "Range") == nil && !$0.hasContent }) ?? true,
            !configuration.isBackground
        else {
            let run = TransferRun(self, request.options, by: .file, .file, to: destination)
            return Response(await resumed(run, request).response(to: request))
        }
        return await SegmentedDownload(self, request, destination, min(segments, 16)).response()
    }

    /// Downloads to a file and makes a value of it, for a response that is too long to be kept in memory.
    ///
    /// - Parameters:
    ///   - request: a request with a body of any kind, or without a body.
    ///   - destination: where the file goes. Without a destination it is deleted when the value has been made, unless
    ///     a hook gives it a place.
    ///   - progress: called on the session's delegate queue with the progress of the response's body.
    ///   - type: the type of the value, as for the manager's verbs.
    public func download<Value: Decodable & Sendable>(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        let request = request.telling(progress)
        let run = TransferRun(self, request.options, by: bodySerializer(of: type), .serializedFile, to: destination)
        return try Response<Value>(await resumed(run, request).response(to: request)).result.get()
    }

    /// Resumes a download and returns the URL of the file. It starts over if the server's file has changed.
    /// Interceptors and options apply to the request for the rest as to any other. At another origin, to which a
    /// redirect has led the download, ``RequestOptions/credential`` and ``AuthenticationInterceptor`` do not apply.
    ///
    /// - Throws: what ``download(_:to:segments:progress:)`` throws.
    @discardableResult
    public func download(
        resuming data: Data,
        to destination: DownloadDestination? = nil,
        options: RequestOptions = RequestOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(UncurlError) -> URL {
        var options = options
        if let progress { options.downloadProgress = progress }
        return try await downloadResponse(resuming: data, to: destination, options: options).result.get()
    }

    /// Resumes a download as ``download(resuming:to:options:progress:)`` does, and returns the response.
    public func downloadResponse(
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

extension Transfer: CustomStringConvertible {
    public var description: String { described(Self.self, ["": control.state]) }
}
