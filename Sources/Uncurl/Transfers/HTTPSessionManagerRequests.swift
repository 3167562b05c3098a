public import URLLoading

/// Sends any request. The request is a value, and each function here gives its response in another way.
extension HTTPSessionManager {
    /// Waits for the response; cancelling the Swift task cancels the request.
    public func response<Serializer: ResponseSerializer>(
        to request: HTTPRequest,
        serializer: Serializer
    ) async -> Response<Serializer.Value> {
        await awaited(TransferRun(self, request.options), request, serializer)
    }

    /// Sends a request and makes the value with the manager's ``URLSessionManager/responseSerializer``.
    public func response(to request: HTTPRequest) async -> Response<any Sendable> {
        await response(to: request, serializer: AnyResponseSerializer(responseSerializer))
    }

    /// Downloads to a file.
    ///
    /// - Parameters:
    ///   - request: a request without content of its own.
    ///   - destination: where the file goes. Without one the file stays where it is, and the caller moves or deletes
    ///     it.
    public func download(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil
    ) async -> Response<URL> {
        await awaited(TransferRun(self, request.options, .file, to: destination), request, .file)
    }

    /// Resumes a download. It begins anew if the server's content has changed.
    public func download(
        resuming data: Data,
        to destination: DownloadDestination? = nil,
        options: RequestOptions = RequestOptions()
    ) async -> Response<URL> {
        let run = TransferRun(self, options, .rest(data), to: destination)
        return await awaited(run, HTTPRequest("", options: options), .file)
    }

    /// Begins the request and returns its handle. `completion` is called once, on the completion queue.
    @discardableResult
    public func start<Serializer: ResponseSerializer>(
        _ request: HTTPRequest,
        serializer: Serializer,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void = { _ in }
    ) -> Transfer<Serializer.Value> {
        let transfer = transfer(request, serializer: serializer, completion: completion)
        transfer.resume()
        return transfer
    }

    /// Makes a transfer that has not begun: ``Transfer/resume()`` begins it.
    public func transfer<Serializer: ResponseSerializer>(
        _ request: HTTPRequest,
        serializer: Serializer,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void = { _ in }
    ) -> Transfer<Serializer.Value> {
        launch(TransferRun(self, request.options), request, serializer, completion)
    }

    /// Makes a download that has not begun: ``Transfer/resume()`` begins it.
    public func downloadTransfer(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil,
        completion: @escaping @Sendable (Response<URL>) -> Void = { _ in }
    ) -> Transfer<URL> {
        launch(TransferRun(self, request.options, .file, to: destination), request, .file, completion)
    }

    // MARK: Runs

    private func awaited<Serializer: ResponseSerializer>(
        _ run: TransferRun,
        _ request: HTTPRequest,
        _ serializer: Serializer
    ) async -> Response<Serializer.Value> {
        run.control.resume()
        return await run.response(to: request, by: serializer)
    }

    private func launch<Serializer: ResponseSerializer>(
        _ run: TransferRun,
        _ request: HTTPRequest,
        _ serializer: Serializer,
        _ completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> Transfer<Serializer.Value> {
        let group = run.settings.values.completionGroup ?? ManagerCore.sharedGroup
        let queue = run.settings.values.completionQueue ?? core.ownQueue
        let task = Task {
            let response = await run.response(to: request, by: serializer)
            queue.async(group: group) { completion(response) }
            return response
        }
        run.control.carries { task.cancel() }
        return Transfer(run.control, task)
    }
}
