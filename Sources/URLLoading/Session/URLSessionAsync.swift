public import Foundation
internal import Synchronization

/// Tasks as asynchronous functions. They are resumed from the session's loop; if a delegate gets events of the task,
/// they return after the last of these. Cancelling the Swift task cancels the load: the function throws
/// `URLError.cancelled`.
///
/// A `delegate` that is given is the task's own: it is asked about redirects and challenges before the session's, and
/// gets reports of progress.
extension URLSession {
    /// Loads a request, and returns the content of its answer, whatever the status.
    public func data(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(of: add { URLSessionDataTask(self, $0, TaskSpec(request, .request, .awaitedData)) }, delegate)
    }

    /// Loads a URL, as `data(for:delegate:)`.
    public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Sends a file, and returns the content of the answer.
    ///
    /// - Parameters:
    ///   - request: the request; content of its own is ignored.
    ///   - fileURL: a file of this machine, which is read as it is sent.
    ///   - delegate: the task's own delegate, which is asked before the session's.
    public func upload(
        for request: URLRequest,
        fromFile fileURL: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let spec = TaskSpec(request, .file(fileURL), .awaitedData)
        return try await data(of: add { URLSessionUploadTask(self, $0, spec) }, delegate)
    }

    /// Sends content in memory, and returns the content of the answer.
    public func upload(
        for request: URLRequest,
        from bodyData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let spec = TaskSpec(request, .data(bodyData), .awaitedData)
        return try await data(of: add { URLSessionUploadTask(self, $0, spec) }, delegate)
    }

    /// Sends the request's own content, as an upload task.
    package func upload(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let spec = TaskSpec(request, .request, .awaitedData)
        return try await data(of: add { URLSessionUploadTask(self, $0, spec) }, delegate)
    }

    /// Loads a request into a file, which the caller may move or delete. It stays until the process ends.
    public func download(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await file(
            of: add { URLSessionDownloadTask(self, $0, TaskSpec(request, .request, .awaitedFile)) },
            delegate
        )
    }

    /// Loads a URL into a file, as `download(for:delegate:)`.
    public func download(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }

    /// Resumes a cancelled or failed download; see ``downloadTask(withResumeData:)``.
    public func download(
        resumeFrom resumeData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await file(
            of: add { URLSessionDownloadTask(self, $0, TaskSpec(resumingFrom: resumeData, in: self, .awaitedFile)) },
            delegate
        )
    }

    /// Loads a request. Returns the head of the answer, and its content as a sequence of bytes. While the program does
    /// not read them, the server has to wait.
    public func bytes(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let channel = ByteChannel()
        let task = add { URLSessionDataTask(self, $0, TaskSpec(request, .request, .bytes(channel))) }
        task.delegate = delegate
        let reader = AsyncBytes.Reader(task, channel)
        task.resume()
        return (AsyncBytes(reader), try await reader.head())
    }

    /// Loads a URL, as `bytes(for:delegate:)`.
    public func bytes(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }

    func data(
        of task: URLSessionTask,
        _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        if let delegate { task.delegate = delegate }
        return try await withTaskCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation { continuation in
                task.begin(waiter: unsafe .data(continuation), onLoop: home.isOnLoop)
            }
        } onCancel: {
            task.cancel()
        }
    }

    private func file(
        of task: URLSessionTask,
        _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (URL, URLResponse) {
        if let delegate { task.delegate = delegate }
        return try await withTaskCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation { continuation in
                task.begin(waiter: unsafe .file(continuation), onLoop: home.isOnLoop)
            }
        } onCancel: {
            task.cancel()
        }
    }
}

extension URLSessionTask {
    /// Resumes the task for a function that waits for its end. A task that was cancelled before still runs to its end.
    fileprivate func begin(waiter: TaskContinuation, onLoop isOnLoop: Bool) {
        let isOver = snapshot.withLock { snapshot in
            if snapshot.state == .completed { return true }
            snapshot.continuation = waiter
            snapshot.waitsOnLoop = isOnLoop
            return false
        }
        guard isOver else { return resume() }
        waiter.resumption(error ?? URLError(.cancelled), nil, Data(), nil).resume()
    }
}
