public import Foundation
internal import Synchronization

/// Tasks as functions that wait. Resumed straight from the session's loop, or, where a delegate is told of the task, once it has been told
/// all; cancelling the Swift task cancels the load, and
/// `URLError.cancelled` is thrown.
///
/// `delegate`, if given, is the task's own: asked about redirects and challenges before the session's, and told of progress.
extension URLSession {
    public func data(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(of: add { URLSessionDataTask(self, $0, TaskSpec(request, .request, .awaitedData)) }, delegate)
    }

    public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// - Parameter fileURL: of this machine; read as it is sent.
    public func upload(
        for request: URLRequest,
        fromFile fileURL: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let spec = TaskSpec(request, .file(fileURL), .awaitedData)
        return try await data(of: add { URLSessionUploadTask(self, $0, spec) }, delegate)
    }

    public func upload(
        for request: URLRequest,
        from bodyData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let spec = TaskSpec(request, .data(bodyData), .awaitedData)
        return try await data(of: add { URLSessionUploadTask(self, $0, spec) }, delegate)
    }

    /// Sends what the request itself holds, as an upload task.
    package func upload(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let spec = TaskSpec(request, .request, .awaitedData)
        return try await data(of: add { URLSessionUploadTask(self, $0, spec) }, delegate)
    }

    /// The file is the caller's, to move or to delete.
    public func download(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await file(
            of: add { URLSessionDownloadTask(self, $0, TaskSpec(request, .request, .awaitedFile)) },
            delegate
        )
    }

    /// The file is the caller's, to move or to delete.
    public func download(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }

    /// Goes on where a cancelled or failed download stopped; see ``downloadTask(withResumeData:)``.
    public func download(
        resumeFrom resumeData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await file(
            of: add { URLSessionDownloadTask(self, $0, TaskSpec(resumingFrom: resumeData, .awaitedFile)) },
            delegate
        )
    }

    /// The head of the answer, and its content to be read as it comes; the server is held while nothing is read.
    public func bytes(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let channel = ByteChannel()
        let task = add { URLSessionDataTask(self, $0, TaskSpec(request, .request, .bytes(channel))) }
        task.delegate = delegate
        let bytes = AsyncBytes(task, channel)
        task.resume()
        let response = try await withTaskCancellationHandler {
            try await channel.head()
        } onCancel: {
            task.cancel()
        }
        return (bytes, response)
    }

    /// The same for a URL.
    public func bytes(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }

    private func data(
        of task: URLSessionTask,
        _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        if let delegate { task.delegate = delegate }
        return try await withTaskCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation { continuation in
                task.begin(waiter: unsafe .data(continuation), onLoop: isOnLoop)
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
                task.begin(waiter: unsafe .file(continuation), onLoop: isOnLoop)
            }
        } onCancel: {
            task.cancel()
        }
    }
}

extension URLSessionTask {
    /// Resumes the task with a caller waiting for its end. A task cancelled before goes on to its end all the same.
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
