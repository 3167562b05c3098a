public import URLLoading

/// Any request: one value says what is wanted, and one of these how to hear of it.
extension HTTPSessionManager {
    /// Waits for the response; cancelling the Swift task cancels the request.
    public func response<Serializer: ResponseSerializer>(
        to request: HTTPRequest,
        serializer: Serializer
    ) async -> Response<Serializer.Value> {
        await awaited(run(request, serializer))
    }

    /// With the manager's own ``URLSessionManager/responseSerializer``.
    public func response(to request: HTTPRequest) async -> Response<any Sendable> {
        await response(to: request, serializer: AnyResponseSerializer(responseSerializer))
    }

    /// Downloads to a file.
    ///
    /// - Parameter destination: without one the file stays where it is, the caller's to move or to delete.
    public func download(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil
    ) async -> Response<URL> {
        await awaited(downloadRun(request, destination))
    }

    /// Goes on where a download stopped, from the start if the server's content is another one by now.
    public func download(
        resuming data: Data,
        to destination: DownloadDestination? = nil,
        options: RequestOptions = RequestOptions()
    ) async -> Response<URL> {
        await awaited(resumedRun(data, destination, options))
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

    /// The same, not begun: ``Transfer/resume()`` begins it.
    public func transfer<Serializer: ResponseSerializer>(
        _ request: HTTPRequest,
        serializer: Serializer,
        completion: @escaping @Sendable (Response<Serializer.Value>) -> Void = { _ in }
    ) -> Transfer<Serializer.Value> {
        launch(run(request, serializer), completion)
    }

    /// A download, not begun.
    public func downloadTransfer(
        _ request: HTTPRequest,
        to destination: DownloadDestination? = nil,
        completion: @escaping @Sendable (Response<URL>) -> Void = { _ in }
    ) -> Transfer<URL> {
        launch(downloadRun(request, destination), completion)
    }

    // MARK: Runs

    private func run<Serializer: ResponseSerializer>(
        _ request: HTTPRequest,
        _ serializer: Serializer
    ) -> TransferRun<Serializer> {
        TransferRun(self, request, request.options, serializer) { [self] settings throws(UncurlError) in
            try taskPlan(for: request, settings.requestSerializer)
        }
    }

    private func downloadRun(
        _ request: HTTPRequest,
        _ destination: DownloadDestination?
    ) -> TransferRun<FileResponseSerializer> {
        TransferRun(self, request, request.options, .file, to: destination) { [self] settings throws(UncurlError) in
            var plan = try taskPlan(for: request, settings.requestSerializer)
            guard case .data = plan.kind else {
                throw .invalidURL(request.path, reason: "a download sends nothing but parameters")
            }
            plan.kind = .download
            return plan
        }
    }

    private func resumedRun(
        _ data: Data,
        _ destination: DownloadDestination?,
        _ options: RequestOptions
    ) -> TransferRun<FileResponseSerializer> {
        TransferRun(self, nil, options, .file, to: destination) { _ throws(UncurlError) in
            TaskPlan(kind: .resumedDownload(data), behavior: TaskBehavior(options), priority: options.priority)
        }
    }

    private func awaited<Serializer: ResponseSerializer>(
        _ run: TransferRun<Serializer>
    ) async -> Response<Serializer.Value> {
        run.control.resume()
        return await withTaskCancellationHandler {
            await run.response()
        } onCancel: {
            run.control.cancel()
        }
    }

    private func launch<Serializer: ResponseSerializer>(
        _ run: TransferRun<Serializer>,
        _ completion: @escaping @Sendable (Response<Serializer.Value>) -> Void
    ) -> Transfer<Serializer.Value> {
        let group = run.settings.completionGroup ?? ManagerCore.sharedGroup
        let queue = run.settings.completionQueue ?? core.ownQueue
        let task = Task {
            let response = await run.response()
            queue.async(group: group) { completion(response) }
            return response
        }
        run.control.carries { task.cancel() }
        return Transfer(run.control, task)
    }
}
