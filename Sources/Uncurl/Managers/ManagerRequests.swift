public import URLLoading

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
    private func resumed(_ run: TransferRun, _ request: @autoclosure () -> HTTPRequest?) -> TransferRun {
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
        let control = TransferControl(settings.monitors, in: core.transfers, tag: options.tag)
        control.tellFirst(.began(request))
        let start = control.start()
        let task = Task {
            for await control in start {
                let run = TransferRun(self, settings, control, options, by: serializer, kind, to: destination)
                return await run.response(to: request, completion)
            }
            return Response(ResponseFacts(failing: .cancelled, nil))
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
    public func uploadProgress() -> ProgressSequence { control.uploadProgressSequence() }

    /// The progress of the response's content, as ``uploadProgress()`` returns it for the request's.
    public func downloadProgress() -> ProgressSequence { control.downloadProgressSequence() }

    /// Cancels the request; see ``TransferControl/cancel()``.
    public func cancel() { control.cancel() }
    /// Suspends the request; see ``TransferControl/suspend()``.
    public func suspend() { control.suspend() }
    /// Begins or continues the request; see ``TransferControl/resume()``.
    public func resume() { control.resume() }
}
